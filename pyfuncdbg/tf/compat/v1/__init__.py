"""`tf.compat.v1`: the namespace of TensorFlow 1."""
from typing import TYPE_CHECKING

from pyfuncdbg.tf import messages
from pyfuncdbg.tf.compat.v1.errors import OpError as OpError
from pyfuncdbg.tf.compat.v1.own import *  # noqa: F403  (after what it replaces)
from pyfuncdbg.tf.graphs import *  # noqa: F403
from pyfuncdbg.tf.lazy_names import late
from pyfuncdbg.tf.public import publish as _publish
from pyfuncdbg.tf.vocabulary import *  # noqa: F403

if TYPE_CHECKING:
    from pyfuncdbg.tf import (
    bitwise as bitwise,
    config as config,
    debugging as debugging,
    distribute as distribute,
    dtypes as dtypes,
    graph_util as graph_util,
    initializers as initializers,
    io as io,
    linalg as linalg,
    math as math,
    nest as nest,
    ragged as ragged,
    raw_ops as raw_ops,
    sparse as sparse,
    train as train,
    version as version,
    )
    from pyfuncdbg.tf.compat.v1 import (
    app as app,
    data as data,
    errors as errors,
    logging as logging,
    losses as losses,
    nn as nn,
    random as random,
    strings as strings,
    test as test,
    )
    from pyfuncdbg.tf.composites import *  # noqa: F403
    from pyfuncdbg.tf.graphs1 import *  # noqa: F403
    from pyfuncdbg.tf.rare import *  # noqa: F403
    from pyfuncdbg.tf.version1 import *  # noqa: F403

_SHARED = (
    'bitwise', 'config', 'debugging', 'distribute', 'dtypes', 'graph_util', 'initializers', 'io', 'linalg', 'math',
    'nest', 'ragged', 'raw_ops', 'sparse', 'train', 'version',
)
"""Namespaces that `tf` has too."""
_SUBMODULES = 'app', 'data', 'errors', 'logging', 'losses', 'nn', 'random', 'strings', 'test'
_PARTS = 'rare', 'composites', 'graphs1', 'version1'

__getattr__, __dir__ = late(
    __name__, {name: f'pyfuncdbg.tf.{name}' for name in _SHARED} | {name: f'{__name__}.{name}' for name in _SUBMODULES},
    [f'pyfuncdbg.tf.{name}' for name in _PARTS], lambda name: messages.message(name, messages.GRAPH, __name__))


_publish(globals())
