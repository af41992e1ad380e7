"""`tf.compat`."""
from pyfuncdbg.tf.compat import v1

__all__ = ['v1']
