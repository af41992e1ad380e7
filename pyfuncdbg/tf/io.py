"""`tf.io`."""
from pyfuncdbg.ops.graph_files import write_graph
from pyfuncdbg.ops.raw_bytes import decode_raw

__all__ = ['decode_raw', 'write_graph']
