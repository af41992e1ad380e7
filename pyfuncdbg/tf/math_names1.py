"""Functions of `tf.math` that TensorFlow 1 had at top level too."""
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import invert_permutation as invert_permutation
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import count_nonzero as count_nonzero
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import (
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
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    log_sigmoid as log_sigmoid,
)
from pyfuncdbg.hosts.numpy.ops.sums.counting import bincount as bincount
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
