"""`tf.test`."""
from pyfuncdbg.ops.gradient_check import compute_gradient

__all__ = ['compute_gradient']
