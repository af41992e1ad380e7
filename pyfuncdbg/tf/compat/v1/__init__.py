"""`tf.compat.v1`: the namespace of TensorFlow 1."""
from typing import TYPE_CHECKING

from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function as numpy_function
from pyfuncdbg.hosts.numpy.ops.script.calls import py_func as py_func
from pyfuncdbg.hosts.numpy.ops.script.calls import py_function as py_function
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
    )
    from pyfuncdbg.tf import (
        config as config,
    )
    from pyfuncdbg.tf import (
        debugging as debugging,
    )
    from pyfuncdbg.tf import (
        distribute as distribute,
    )
    from pyfuncdbg.tf import (
        dtypes as dtypes,
    )
    from pyfuncdbg.tf import (
        graph_util as graph_util,
    )
    from pyfuncdbg.tf import (
        initializers as initializers,
    )
    from pyfuncdbg.tf import (
        io as io,
    )
    from pyfuncdbg.tf import (
        linalg as linalg,
    )
    from pyfuncdbg.tf import (
        math as math,
    )
    from pyfuncdbg.tf import (
        nest as nest,
    )
    from pyfuncdbg.tf import (
        ragged as ragged,
    )
    from pyfuncdbg.tf import (
        raw_ops as raw_ops,
    )
    from pyfuncdbg.tf import (
        sparse as sparse,
    )
    from pyfuncdbg.tf import (
        train as train,
    )
    from pyfuncdbg.tf import (
        version as version,
    )
    from pyfuncdbg.tf.compat.v1 import app as app
    from pyfuncdbg.tf.compat.v1 import data as data
    from pyfuncdbg.tf.compat.v1 import errors as errors
    from pyfuncdbg.tf.compat.v1 import logging as logging
    from pyfuncdbg.tf.compat.v1 import losses as losses
    from pyfuncdbg.tf.compat.v1 import nn as nn
    from pyfuncdbg.tf.compat.v1 import random as random
    from pyfuncdbg.tf.compat.v1 import strings as strings
    from pyfuncdbg.tf.compat.v1 import test as test
    from pyfuncdbg.tf.composites import *  # noqa: F403
    from pyfuncdbg.tf.graphs1 import *  # noqa: F403
    from pyfuncdbg.tf.rare import *  # noqa: F403
    from pyfuncdbg.tf.version1 import *  # noqa: F403

_SHARED = (
    'bitwise', 'config', 'debugging', 'distribute', 'dtypes', 'graph_util', 'initializers', 'io', 'linalg', 'math',
    'nest', 'ragged', 'raw_ops', 'sparse', 'train', 'version',
)
"""Namespaces that `tf` has too."""
_OWN = 'app', 'data', 'errors', 'logging', 'losses', 'nn', 'random', 'strings', 'test'
_PARTS = 'rare', 'composites', 'graphs1', 'version1'

__getattr__, __dir__ = late(
    __name__, {name: f'pyfuncdbg.tf.{name}' for name in _SHARED} | {name: f'{__name__}.{name}' for name in _OWN},
    [f'pyfuncdbg.tf.{name}' for name in _PARTS], lambda name: messages.message(name, messages.GRAPH, __name__))


_publish(globals())
