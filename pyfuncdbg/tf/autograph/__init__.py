"""`tf.autograph`."""
from pyfuncdbg.hosts.numpy.ops.autograph.api import set_verbosity, to_code, to_graph, trace
from pyfuncdbg.tf.autograph import experimental
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['experimental', 'set_verbosity', 'to_code', 'to_graph', 'trace']

_publish(globals())
