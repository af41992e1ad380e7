"""`tf.graph_util` and `tf.compat.v1.graph_util`."""
from pyfuncdbg.hosts.numpy.ops.graphs.graph_files import extract_sub_graph, remove_training_nodes
from pyfuncdbg.hosts.numpy.ops.graphs.graph_import import import_graph_def
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['extract_sub_graph', 'import_graph_def', 'remove_training_nodes']

_publish(globals())
