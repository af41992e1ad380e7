"""`tf.debugging`."""
from pyfuncdbg.hosts.numpy.ops.checks.assertions import (
    Assert as Assert,
    assert_all_finite as assert_all_finite,
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_less as assert_less,
)
from pyfuncdbg.hosts.numpy.ops.checks.static_assertions import assert_rank as assert_rank, assert_shapes as assert_shapes
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
)
from pyfuncdbg.hosts.numpy.runtime.cluster.devices import (
    get_log_device_placement as get_log_device_placement,
    set_log_device_placement as set_log_device_placement,
)
from pyfuncdbg.tf.assertion_names1 import *  # noqa: F403
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
