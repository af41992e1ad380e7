"""`tf.compat.v1.app`."""
from pyfuncdbg.ops.logger import run

__all__ = ['run']
