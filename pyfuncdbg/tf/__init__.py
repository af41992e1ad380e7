"""`tf`: TensorFlow's namespace over pyfuncdbg's own runtime. Names only.

At top level it has what TensorFlow 2 has and, so that old programs run unchanged, what only TensorFlow 1 had.
"""
from typing import TYPE_CHECKING

from pyfuncdbg.hosts.numpy.graph.device import DeviceSpec as DeviceSpec
from pyfuncdbg.hosts.numpy.graph.proto import versions as _versions
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones_like as ones_like
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros_like as zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import transpose as transpose
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import device as device
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import name_scope as name_scope
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where as where
from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function as numpy_function
from pyfuncdbg.hosts.numpy.ops.script.calls import py_func as py_func
from pyfuncdbg.hosts.numpy.ops.script.calls import py_function as py_function
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients as gradients
from pyfuncdbg.tf import messages
from pyfuncdbg.tf.graphs import *  # noqa: F403
from pyfuncdbg.tf.lazy_names import late
from pyfuncdbg.tf.public import publish as _publish
from pyfuncdbg.tf.vocabulary import *  # noqa: F403

__version__ = _versions.VERSION

if TYPE_CHECKING:
    from pyfuncdbg.tf import (
        autodiff as autodiff,
    )
    from pyfuncdbg.tf import (
        autograph as autograph,
    )
    from pyfuncdbg.tf import (
        bitwise as bitwise,
    )
    from pyfuncdbg.tf import (
        compat as compat,
    )
    from pyfuncdbg.tf import (
        config as config,
    )
    from pyfuncdbg.tf import (
        contrib as contrib,
    )
    from pyfuncdbg.tf import (
        data as data,
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
        errors as errors,
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
        nn as nn,
    )
    from pyfuncdbg.tf import (
        ragged as ragged,
    )
    from pyfuncdbg.tf import (
        random as random,
    )
    from pyfuncdbg.tf import (
        raw_ops as raw_ops,
    )
    from pyfuncdbg.tf import (
        sparse as sparse,
    )
    from pyfuncdbg.tf import (
        strings as strings,
    )
    from pyfuncdbg.tf import (
        test as test,
    )
    from pyfuncdbg.tf import (
        train as train,
    )
    from pyfuncdbg.tf import (
        version as version,
    )
    from pyfuncdbg.tf.composites import *  # noqa: F403
    from pyfuncdbg.tf.graphs1 import *  # noqa: F403
    from pyfuncdbg.tf.rare import *  # noqa: F403
    from pyfuncdbg.tf.version1 import *  # noqa: F403
    from pyfuncdbg.tf.version2 import *  # noqa: F403

_NAMESPACES = (
    'autodiff', 'autograph', 'bitwise', 'compat', 'config', 'contrib', 'data', 'debugging', 'distribute', 'dtypes',
    'errors', 'graph_util', 'initializers', 'io', 'linalg', 'math', 'nest', 'nn', 'ragged', 'random', 'raw_ops', 'sparse',
    'strings', 'test', 'train', 'version',
)
_PARTS = 'version2', 'rare', 'composites', 'graphs1', 'version1'

__getattr__, __dir__ = late(
    __name__, {name: f'{__name__}.{name}' for name in _NAMESPACES}, [f'{__name__}.{name}' for name in _PARTS],
    lambda name: messages.message(name, messages.GRAPH, __name__))


_publish(globals())
