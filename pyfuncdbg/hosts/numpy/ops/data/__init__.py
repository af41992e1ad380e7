"""`tf.data`: datasets as descriptions of what to read, and iterators that read them. Importing fills the registry."""
from pyfuncdbg.hosts.numpy.ops.data import batching, mapping, ordering, reducing, sources
from pyfuncdbg.hosts.numpy.ops.data import iterator_resource
from pyfuncdbg.hosts.numpy.ops.data import choice

__all__ = ['batching', 'choosing', 'getting', 'mapping', 'ordering', 'reducing', 'sources']
