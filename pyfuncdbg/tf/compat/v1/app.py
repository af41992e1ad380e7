"""`tf.compat.v1.app`."""
from pyfuncdbg.hosts.numpy.ops.checks.logger import run
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['run']

_publish(globals())
