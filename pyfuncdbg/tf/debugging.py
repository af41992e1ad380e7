"""`tf.debugging`."""
from pyfuncdbg.ops.assertions import (
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
    assert_rank,
    assert_scalar,
    assert_shapes,
    assert_type,
    check_numerics,
)
from pyfuncdbg.runtime.devices import get_log_device_placement, set_log_device_placement

__all__ = [
    'Assert', 'assert_all_finite', 'assert_equal', 'assert_greater', 'assert_greater_equal', 'assert_less',
    'assert_less_equal', 'assert_near', 'assert_negative', 'assert_non_negative', 'assert_non_positive',
    'assert_none_equal', 'assert_positive', 'assert_rank', 'assert_scalar', 'assert_shapes', 'assert_type',
    'check_numerics', 'get_log_device_placement', 'set_log_device_placement',
]
