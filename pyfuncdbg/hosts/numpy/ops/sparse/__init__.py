"""Sparse tensors, which hold only some of their elements. All of it is loaded together: ops know them then."""
from pyfuncdbg.hosts.numpy.ops.sparse import arrangement, dense

__all__ = ['arrangement', 'dense']
