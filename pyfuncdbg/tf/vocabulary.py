"""Names that `tf` of TensorFlow 2 and of TensorFlow 1 have in common, at top level.

Renamed arguments are accepted under both names (`axis`, `reduction_indices`).
"""
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor as Tensor
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape as TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import (
    eye as eye,
    fill as fill,
    linspace as linspace,
    meshgrid as meshgrid,
    one_hot as one_hot,
    ones as ones,
    range as range,
    sequence_mask as sequence_mask,
    zeros as zeros,
)
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import (
    boolean_mask as boolean_mask,
    dynamic_stitch as dynamic_stitch,
    gather as gather,
    gather_nd as gather_nd,
    scatter_nd as scatter_nd,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from pyfuncdbg.hosts.numpy.ops.arrays.joining import (
    concat as concat,
    reverse as reverse,
    split as split,
    stack as stack,
    tile as tile,
    unstack as unstack,
)
from pyfuncdbg.hosts.numpy.ops.arrays.padding import pad as pad
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import (
    ensure_shape as ensure_shape,
    expand_dims as expand_dims,
    identity as identity,
    identity_n as identity_n,
    rank as rank,
    reshape as reshape,
    shape as shape,
    size as size,
    squeeze as squeeze,
    stop_gradient as stop_gradient,
)
from pyfuncdbg.hosts.numpy.ops.arrays.slicing import slice_ as _slice, strided_slice as strided_slice
from pyfuncdbg.hosts.numpy.ops.checks.assertions import (
    Assert as Assert,
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_less as assert_less,
)
from pyfuncdbg.hosts.numpy.ops.checks.static_assertions import assert_rank as assert_rank
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import broadcast_to as broadcast_to
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant as constant, convert_to_tensor as convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import (
    floormod as _floormod,
    realdiv as realdiv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import clip_by_value as clip_by_value
from pyfuncdbg.hosts.numpy.ops.linalg.products import matmul as matmul, norm as norm, tensordot as tensordot
from pyfuncdbg.hosts.numpy.ops.training.clipping import (
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
)
from pyfuncdbg.tf.dtype_names import *  # noqa: F403
from pyfuncdbg.tf.math_names import *  # noqa: F403

slice = _slice
mod = _floormod

newaxis = None
