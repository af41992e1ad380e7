"""`tf.io`."""
from pyfuncdbg.hosts.numpy.ops.graphs.graph_files import write_graph as write_graph
from pyfuncdbg.hosts.numpy.ops.strings.raw_bytes import decode_raw as decode_raw
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
