"""`tf.compat.v1.app`."""
from pyfuncdbg.hosts.numpy.ops.checks.logger import run as run
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
