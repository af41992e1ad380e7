"""Names that `tf` of TensorFlow 2 and of TensorFlow 1 have in common, at top level.

Arguments that were renamed are understood under both names (`axis`, `reduction_indices`).
"""
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor as Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool as bool,
    complex64 as complex64,
    complex128 as complex128,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    qint8 as qint8,
    qint16 as qint16,
    qint32 as qint32,
    quint8 as quint8,
    quint16 as quint16,
    resource as resource,
    string as string,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    variant as variant,
)
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
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import (
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
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
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast as cast, saturate_cast as saturate_cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant as constant, convert_to_tensor as convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import (
    add as add,
    add_n as add_n,
    atan2 as atan2,
    divide as divide,
    floormod as _floormod,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    pow as pow,
    realdiv as realdiv,
    subtract as subtract,
    truediv as truediv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import (
    clip_by_value as clip_by_value,
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_or as logical_or,
    not_equal as not_equal,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atanh as atanh,
    cos as cos,
    cosh as cosh,
    exp as exp,
    floor as floor,
    logical_not as logical_not,
    negative as negative,
    round as round,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    tan as tan,
    tanh as tanh,
)
from pyfuncdbg.hosts.numpy.ops.linalg.products import matmul as matmul, norm as norm, tensordot as tensordot
from pyfuncdbg.hosts.numpy.ops.training.clipping import (
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
)

slice = _slice
mod = _floormod

newaxis = None
