"""`tf.test`."""
from pyfuncdbg.ops.gradient_check import compute_gradient
from pyfuncdbg.ops.unit_test import TestCase, gpu_device_name, is_built_with_cuda, is_gpu_available, main

__all__ = ['TestCase', 'compute_gradient', 'gpu_device_name', 'is_built_with_cuda', 'is_gpu_available', 'main']
