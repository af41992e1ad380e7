"""`tf.distribute`: servers. Strategies are not provided."""
from pyfuncdbg.runtime.server import Server

__all__ = ['Server']
