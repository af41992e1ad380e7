"""Names of `tf.compat.v1` that `tf` does not have or has with other arguments."""
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV1 as DeviceSpec
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones_like_v1 as ones_like
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros_like_v1 as zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import transpose_v1 as transpose
from pyfuncdbg.hosts.numpy.ops.control.cond import cond_v1 as cond
from pyfuncdbg.hosts.numpy.ops.control.while_loop import while_loop_v1 as while_loop
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import container
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import device_v1 as device
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import name_scope_v1 as name_scope
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where_v1 as where
from pyfuncdbg.hosts.numpy.ops.graphs.hessians import hessians_v1 as hessians
from pyfuncdbg.hosts.numpy.ops.sparse.dense import to_dense as sparse_tensor_to_dense
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argmax_v1 as argmax
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argmin_v1 as argmin
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlicesValue
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients_v1 as gradients

GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 2474, 0, 0

__all__ = [
    'GRAPH_DEF_VERSION', 'GRAPH_DEF_VERSION_MIN_CONSUMER', 'GRAPH_DEF_VERSION_MIN_PRODUCER',
    'DeviceSpec',
    'IndexedSlicesValue',
    'argmax',
    'argmin',
    'cond',
    'container',
    'device',
    'gradients',
    'hessians',
    'name_scope',
    'ones_like',
    'sparse_tensor_to_dense',
    'transpose',
    'where',
    'while_loop',
    'zeros_like',
]
