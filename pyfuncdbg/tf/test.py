"""`tf.test`."""
from pyfuncdbg.hosts.numpy.ops.checks.unit_test import TestCase, gpu_device_name, is_built_with_cuda, is_gpu_available, main
from pyfuncdbg.hosts.numpy.ops.graphs.gradient_check import compute_gradient
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['TestCase', 'compute_gradient', 'gpu_device_name', 'is_built_with_cuda', 'is_gpu_available', 'main']

_publish(globals())
