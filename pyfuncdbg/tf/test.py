"""`tf.test`."""
from pyfuncdbg.hosts.numpy.ops.checks.unit_test import (
    TestCase as TestCase,
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_gpu_available as is_gpu_available,
    main as main,
)
from pyfuncdbg.hosts.numpy.ops.graphs.gradient_check import compute_gradient as compute_gradient
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
