"""Names that only TensorFlow 1 had at top level. `tf` has them too, so that its programs run unchanged.
"""
from pyfuncdbg.hosts.numpy.graph.types.dimension import (
    Dimension as Dimension,
    disable_v2_tensorshape as disable_v2_tensorshape,
    enable_v2_tensorshape as enable_v2_tensorshape,
    value_of as _value_of,
)
from pyfuncdbg.hosts.numpy.graph.types.shapes import dimension_at_index as dimension_at_index
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import (
    depth_to_space as depth_to_space,
    invert_permutation as invert_permutation,
    space_to_depth as space_to_depth,
)
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import count_nonzero as count_nonzero
from pyfuncdbg.hosts.numpy.ops.checks.assertions import (
    assert_greater_equal as assert_greater_equal,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    check_numerics as _check_numerics,
    check_numerics as check_numerics,
)
from pyfuncdbg.hosts.numpy.ops.checks.printing import Print as Print
from pyfuncdbg.hosts.numpy.ops.checks.static_assertions import (
    assert_integer as assert_integer,
    assert_proper_iterable as assert_proper_iterable,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_scalar as assert_scalar,
    assert_type as assert_type,
    is_numeric_tensor as is_numeric_tensor,
)
from pyfuncdbg.hosts.numpy.ops.definition.cast import (
    to_bfloat16 as to_bfloat16,
    to_complex64 as to_complex64,
    to_complex128 as to_complex128,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import (
    div as div,
    div_no_nan as div_no_nan,
    floordiv as floordiv,
    floormod as floormod,
    squared_difference as squared_difference,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import logical_xor as logical_xor
from pyfuncdbg.hosts.numpy.ops.elementwise.complex_numbers import angle as angle, imag as imag, real as real
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import (
    ceil as ceil,
    conj as conj,
    erf as erf,
    erfc as erfc,
    expm1 as expm1,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    log as log,
    log1p as log1p,
    reciprocal as reciprocal,
    rint as rint,
    rsqrt as rsqrt,
)
from pyfuncdbg.hosts.numpy.ops.linalg.products import matrix_transpose as matrix_transpose
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    log_sigmoid as log_sigmoid,
)
from pyfuncdbg.hosts.numpy.ops.ragged.string_split import string_split as string_split
from pyfuncdbg.hosts.numpy.ops.random.random import (
    get_seed as get_seed,
    multinomial as multinomial,
    random_normal as random_normal,
    random_uniform as random_uniform,
    set_seed as _set_seed,
    shuffle as _shuffle,
    truncated_normal as truncated_normal,
)
from pyfuncdbg.hosts.numpy.ops.strings.regex import regex_replace as regex_replace
from pyfuncdbg.hosts.numpy.ops.strings.strings import (
    reduce_join as reduce_join,
    string_to_number_v1 as _string_to_number_v1,
    strip as _strip,
    substr as substr,
)
from pyfuncdbg.hosts.numpy.ops.sums.counting import bincount as bincount, confusion_matrix_v1 as _confusion_matrix_v1
from pyfuncdbg.hosts.numpy.ops.sums.segments import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from pyfuncdbg.hosts.numpy.ops.sums.sorting import cumprod as cumprod
from pyfuncdbg.hosts.numpy.ops.sums.special import (
    digamma as digamma,
    lbeta as lbeta,
    lgamma as lgamma,
    polygamma as polygamma,
    zeta as zeta,
)
from pyfuncdbg.hosts.numpy.ops.training.clipping import (
    clip_by_average_norm as clip_by_average_norm,
    global_norm as global_norm,
)

dimension_value = _value_of
verify_tensor_all_finite = _check_numerics
set_random_seed = _set_seed
random_shuffle = _shuffle
string_to_number = _string_to_number_v1
string_strip = _strip
confusion_matrix = _confusion_matrix_v1
