"""Sparse tensors, which store only some elements. Imported together, so that ops accept them."""
from pyfuncdbg.hosts.numpy.ops.sparse import arrangement, dense

__all__ = ['arrangement', 'dense']
