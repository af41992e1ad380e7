"""`tf.data`: datasets as descriptions of what to read, and iterators that read them. Importing fills the registry."""
from pyfuncdbg.hosts.numpy.ops.data import batch, combination, iterator_resource, mapping, ordering, reduction, sources

__all__ = ['batch', 'combination', 'iterator_resource', 'mapping', 'ordering', 'reduction', 'sources']
