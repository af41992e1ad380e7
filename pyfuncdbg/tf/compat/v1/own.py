"""Names of `tf.compat.v1` that `tf` does not have or has with other arguments."""
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV1 as _DeviceSpecV1
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones_like_v1 as _ones_like_v1, zeros_like_v1 as _zeros_like_v1
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import transpose_v1 as _transpose_v1
from pyfuncdbg.hosts.numpy.ops.control.cond import cond_v1 as _cond_v1
from pyfuncdbg.hosts.numpy.ops.control.while_loop import while_loop_v1 as _while_loop_v1
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import (
    container as container,
    device_v1 as _device_v1,
    name_scope_v1 as _name_scope_v1,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where_v1 as _where_v1
from pyfuncdbg.hosts.numpy.ops.graphs.hessians import hessians_v1 as _hessians_v1
from pyfuncdbg.hosts.numpy.ops.sparse.dense import to_dense as _to_dense
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argmax_v1 as _argmax_v1, argmin_v1 as _argmin_v1
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlicesValue as IndexedSlicesValue
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients_v1 as _gradients_v1

DeviceSpec = _DeviceSpecV1
ones_like = _ones_like_v1
zeros_like = _zeros_like_v1
transpose = _transpose_v1
cond = _cond_v1
while_loop = _while_loop_v1
device = _device_v1
name_scope = _name_scope_v1
where = _where_v1
hessians = _hessians_v1
sparse_tensor_to_dense = _to_dense
argmax = _argmax_v1
argmin = _argmin_v1
gradients = _gradients_v1

GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 2474, 0, 0
