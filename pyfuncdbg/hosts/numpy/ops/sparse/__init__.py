"""Sparse tensors: tensors of which only some elements are kept. All of it is loaded together: ops know them then."""
from pyfuncdbg.hosts.numpy.ops.sparse import dense
from pyfuncdbg.hosts.numpy.ops.sparse import arrangement

__all__ = ['arranging', 'dense']
