"""`tf.distribute`: servers. Strategies are not provided."""
from pyfuncdbg.hosts.numpy.runtime.cluster.server import Server
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['Server']

_publish(globals())
