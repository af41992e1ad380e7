"""`tf.graph_util` and `tf.compat.v1.graph_util`."""
from pyfuncdbg.hosts.numpy.ops.graphs.graph_files import (
    extract_sub_graph as extract_sub_graph,
    import_graph_def as import_graph_def,
    remove_training_nodes as remove_training_nodes,
)
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
