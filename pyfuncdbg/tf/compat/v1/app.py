"""`tf.compat.v1.app`."""
from pyfuncdbg.hosts.numpy.ops.checks.logger import run

__all__ = ['run']
