"""`tf.autograph`."""
from pyfuncdbg.hosts.numpy.ops.autograph.api import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from pyfuncdbg.tf.autograph import experimental as experimental
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
