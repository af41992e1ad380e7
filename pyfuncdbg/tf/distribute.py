"""`tf.distribute`: servers. Strategies are not provided."""
from pyfuncdbg.hosts.numpy.runtime.cluster.server import Server

__all__ = ['Server']
