"""Sparse tensors: tensors of which only some elements are kept. All of it is loaded together: ops know them then."""
from pyfuncdbg.hosts.numpy.ops.sparse import arrangement, dense

__all__ = ['arrangement', 'dense']
