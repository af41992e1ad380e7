"""`tf`: TensorFlow's namespace over pyfuncdbg's own runtime. Names only.

At top level it has what TensorFlow 2 has and, so that old programs run unchanged, what only TensorFlow 1 had.
"""
from typing import TYPE_CHECKING

from pyfuncdbg.hosts.numpy.graph.proto import versions as _versions
from pyfuncdbg.tf import messages
from pyfuncdbg.tf.lazy_names import late
from pyfuncdbg.tf.public import publish as _publish

__version__ = _versions.VERSION

if TYPE_CHECKING:
    from pyfuncdbg.tf import (
    autodiff as autodiff,
    autograph as autograph,
    bitwise as bitwise,
    compat as compat,
    config as config,
    contrib as contrib,
    data as data,
    debugging as debugging,
    distribute as distribute,
    dtypes as dtypes,
    errors as errors,
    graph_util as graph_util,
    initializers as initializers,
    io as io,
    linalg as linalg,
    math as math,
    nest as nest,
    nn as nn,
    ragged as ragged,
    random as random,
    raw_ops as raw_ops,
    sparse as sparse,
    strings as strings,
    test as test,
    train as train,
    version as version,
    )
    from pyfuncdbg.tf.composites import *  # noqa: F403
    from pyfuncdbg.tf.graphs import *  # noqa: F403
    from pyfuncdbg.tf.graphs1 import *  # noqa: F403
    from pyfuncdbg.tf.rare import *  # noqa: F403
    from pyfuncdbg.tf.version1 import *  # noqa: F403
    from pyfuncdbg.tf.version2 import *  # noqa: F403
    from pyfuncdbg.tf.vocabulary import *  # noqa: F403
    from pyfuncdbg.tf.vocabulary2 import *  # noqa: F403

_NAMESPACES = (
    'autodiff', 'autograph', 'bitwise', 'compat', 'config', 'contrib', 'data', 'debugging', 'distribute', 'dtypes',
    'errors', 'graph_util', 'initializers', 'io', 'linalg', 'math', 'nest', 'nn', 'ragged', 'random', 'raw_ops', 'sparse',
    'strings', 'test', 'train', 'version',
)
_PARTS = 'vocabulary', 'vocabulary2', 'graphs', 'version2', 'rare', 'composites', 'graphs1', 'version1'

__getattr__, __dir__ = late(
    __name__, {name: f'{__name__}.{name}' for name in _NAMESPACES}, [f'{__name__}.{name}' for name in _PARTS],
    lambda name: messages.message(name, messages.GRAPH, __name__))


_publish(globals())

