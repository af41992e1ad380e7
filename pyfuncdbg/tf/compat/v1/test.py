"""`tf.compat.v1.test`."""
from pyfuncdbg.hosts.numpy.ops.checks.unit_test import (
    TestCase as TestCase,
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_gpu_available as is_gpu_available,
    main as main,
)
from pyfuncdbg.hosts.numpy.ops.graphs.gradient_check import (
    compute_gradient_error as compute_gradient_error,
    compute_gradient_v1 as _compute_gradient_v1,
)
from pyfuncdbg.tf.public import publish as _publish

compute_gradient = _compute_gradient_v1

_publish(globals())
