"""Assertions of `tf.debugging` that TensorFlow 1 had at top level too."""
from pyfuncdbg.hosts.numpy.ops.checks.assertions import (
    assert_greater_equal as assert_greater_equal,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    check_numerics as check_numerics,
)
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
