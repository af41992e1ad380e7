"""`tf.io`."""
from pyfuncdbg.ops.graph_files import write_graph

__all__ = ['write_graph']
