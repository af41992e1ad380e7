"""`tf.distribute`: servers. Strategies are not provided."""
from pyfuncdbg.hosts.numpy.runtime.cluster.server import Server as Server
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
