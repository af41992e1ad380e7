"""`tf.compat.v1.test`."""
from pyfuncdbg.hosts.numpy.ops.checks.unit_test import TestCase, gpu_device_name, is_built_with_cuda, is_gpu_available, main
from pyfuncdbg.hosts.numpy.ops.graphs.gradient_check import compute_gradient_error
from pyfuncdbg.hosts.numpy.ops.graphs.gradient_check import compute_gradient_v1 as compute_gradient
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['TestCase', 'compute_gradient', 'compute_gradient_error', 'gpu_device_name', 'is_built_with_cuda',
           'is_gpu_available', 'main']

_publish(globals())
