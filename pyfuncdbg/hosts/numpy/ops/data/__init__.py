"""`tf.data`: datasets as descriptions of what to read, and iterators that read them. Importing fills the registry."""
from pyfuncdbg.hosts.numpy.ops.data import batching
from pyfuncdbg.hosts.numpy.ops.data import choosing
from pyfuncdbg.hosts.numpy.ops.data import getting
from pyfuncdbg.hosts.numpy.ops.data import mapping
from pyfuncdbg.hosts.numpy.ops.data import ordering
from pyfuncdbg.hosts.numpy.ops.data import reducing
from pyfuncdbg.hosts.numpy.ops.data import sources

__all__ = ['batching', 'choosing', 'getting', 'mapping', 'ordering', 'reducing', 'sources']
