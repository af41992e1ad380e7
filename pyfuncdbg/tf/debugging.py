"""`tf.debugging`."""
from pyfuncdbg.hosts.numpy.ops.checks.assertions import (
    Assert,
    assert_all_finite,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    check_numerics,
)
from pyfuncdbg.hosts.numpy.ops.checks.static_assertions import (
    assert_integer,
    assert_proper_iterable,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_shapes,
    assert_type,
    is_numeric_tensor,
)
from pyfuncdbg.hosts.numpy.ops.nn.normalization import is_non_decreasing, is_strictly_increasing
from pyfuncdbg.hosts.numpy.runtime.cluster.devices import get_log_device_placement, set_log_device_placement
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'Assert', 'assert_all_finite', 'assert_equal', 'assert_greater', 'assert_greater_equal', 'assert_integer',
    'assert_less', 'assert_less_equal', 'assert_near', 'assert_negative', 'assert_non_negative',
    'assert_non_positive', 'assert_none_equal', 'assert_positive', 'assert_proper_iterable', 'assert_rank',
    'assert_rank_at_least', 'assert_rank_in', 'assert_same_float_dtype', 'assert_scalar', 'assert_shapes',
    'assert_type', 'check_numerics', 'get_log_device_placement', 'is_non_decreasing', 'is_numeric_tensor',
    'is_strictly_increasing', 'set_log_device_placement',
]

_publish(globals())
