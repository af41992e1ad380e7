"""`tf.data`: datasets as descriptions of what to read, and iterators that read them. Importing fills the registry."""
from pyfuncdbg.hosts.numpy.ops.data import batching, choice, iterator_resource, mapping, ordering, reducing, sources

__all__ = ['batching', 'choice', 'iterator_resource', 'mapping', 'ordering', 'reducing', 'sources']
