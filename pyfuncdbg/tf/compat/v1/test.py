"""`tf.compat.v1.test`."""
from pyfuncdbg.ops.gradient_check import compute_gradient_error
from pyfuncdbg.ops.gradient_check import compute_gradient_v1 as compute_gradient

__all__ = ['compute_gradient', 'compute_gradient_error']
