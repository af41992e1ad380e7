"""Names that only TensorFlow 1 had at top level. `tf` has them too, so that its programs run unchanged.
"""
from pyfuncdbg.hosts.numpy.graph.types.dimension import Dimension, disable_v2_tensorshape, enable_v2_tensorshape
from pyfuncdbg.hosts.numpy.graph.types.dimension import value_of as dimension_value
from pyfuncdbg.hosts.numpy.graph.types.shapes import dimension_at_index
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import depth_to_space, invert_permutation, space_to_depth
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import count_nonzero
from pyfuncdbg.hosts.numpy.ops.checks.assertions import (
    assert_greater_equal,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
)
from pyfuncdbg.hosts.numpy.ops.checks.assertions import check_numerics as check_numerics
from pyfuncdbg.hosts.numpy.ops.checks.assertions import check_numerics as verify_tensor_all_finite
from pyfuncdbg.hosts.numpy.ops.checks.printing import Print
from pyfuncdbg.hosts.numpy.ops.checks.static_assertions import (
    assert_integer,
    assert_proper_iterable,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_type,
    is_numeric_tensor,
)
from pyfuncdbg.hosts.numpy.ops.definition.cast import (
    to_bfloat16,
    to_complex64,
    to_complex128,
    to_double,
    to_float,
    to_int32,
    to_int64,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import div, div_no_nan, floordiv, floormod, squared_difference
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import logical_xor
from pyfuncdbg.hosts.numpy.ops.elementwise.complex_numbers import angle, imag, real
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import (
    ceil,
    conj,
    erf,
    erfc,
    expm1,
    is_finite,
    is_inf,
    is_nan,
    log,
    log1p,
    reciprocal,
    rint,
    rsqrt,
)
from pyfuncdbg.hosts.numpy.ops.linalg.products import matrix_transpose
from pyfuncdbg.hosts.numpy.ops.nn.normalization import is_non_decreasing, is_strictly_increasing, log_sigmoid
from pyfuncdbg.hosts.numpy.ops.ragged.string_split import string_split
from pyfuncdbg.hosts.numpy.ops.random.random import get_seed, multinomial, random_normal, random_uniform, truncated_normal
from pyfuncdbg.hosts.numpy.ops.random.random import set_seed as set_random_seed
from pyfuncdbg.hosts.numpy.ops.random.random import shuffle as random_shuffle
from pyfuncdbg.hosts.numpy.ops.strings.regex import regex_replace
from pyfuncdbg.hosts.numpy.ops.strings.strings import reduce_join, substr
from pyfuncdbg.hosts.numpy.ops.strings.strings import string_to_number_v1 as string_to_number
from pyfuncdbg.hosts.numpy.ops.strings.strings import strip as string_strip
from pyfuncdbg.hosts.numpy.ops.sums.counting import bincount
from pyfuncdbg.hosts.numpy.ops.sums.counting import confusion_matrix_v1 as confusion_matrix
from pyfuncdbg.hosts.numpy.ops.sums.segments import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from pyfuncdbg.hosts.numpy.ops.sums.sorting import cumprod
from pyfuncdbg.hosts.numpy.ops.sums.special import digamma, lbeta, lgamma, polygamma, zeta
from pyfuncdbg.hosts.numpy.ops.training.clipping import clip_by_average_norm, global_norm

__all__ = [
    'Dimension',
    'Print',
    'angle',
    'assert_greater_equal',
    'assert_integer',
    'assert_less_equal',
    'assert_near',
    'assert_negative',
    'assert_non_negative',
    'assert_non_positive',
    'assert_none_equal',
    'assert_positive',
    'assert_proper_iterable',
    'assert_rank_at_least',
    'assert_rank_in',
    'assert_same_float_dtype',
    'assert_scalar',
    'assert_type',
    'bincount',
    'ceil',
    'check_numerics',
    'clip_by_average_norm',
    'confusion_matrix',
    'conj',
    'count_nonzero',
    'cumprod',
    'depth_to_space',
    'digamma',
    'dimension_at_index',
    'dimension_value',
    'disable_v2_tensorshape',
    'div',
    'div_no_nan',
    'enable_v2_tensorshape',
    'erf',
    'erfc',
    'expm1',
    'floordiv',
    'floormod',
    'get_seed',
    'global_norm',
    'imag',
    'invert_permutation',
    'is_finite',
    'is_inf',
    'is_nan',
    'is_non_decreasing',
    'is_numeric_tensor',
    'is_strictly_increasing',
    'lbeta',
    'lgamma',
    'log',
    'log1p',
    'log_sigmoid',
    'logical_xor',
    'matrix_transpose',
    'multinomial',
    'polygamma',
    'random_normal',
    'random_shuffle',
    'random_uniform',
    'real',
    'reciprocal',
    'reduce_join',
    'regex_replace',
    'rint',
    'rsqrt',
    'segment_max',
    'segment_mean',
    'segment_min',
    'segment_prod',
    'segment_sum',
    'set_random_seed',
    'space_to_depth',
    'squared_difference',
    'string_split',
    'string_strip',
    'string_to_number',
    'substr',
    'to_bfloat16',
    'to_complex64',
    'to_complex128',
    'to_double',
    'to_float',
    'to_int32',
    'to_int64',
    'truncated_normal',
    'unsorted_segment_max',
    'unsorted_segment_mean',
    'unsorted_segment_min',
    'unsorted_segment_prod',
    'unsorted_segment_sqrt_n',
    'unsorted_segment_sum',
    'verify_tensor_all_finite',
    'zeta',
]
