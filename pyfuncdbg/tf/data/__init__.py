"""`tf.data`."""
from pyfuncdbg.hosts.numpy.ops.data.dataset import Dataset
from pyfuncdbg.hosts.numpy.ops.data.iterator import OwnedIterator as Iterator
from pyfuncdbg.hosts.numpy.ops.data.options import Options
from pyfuncdbg.hosts.numpy.ops.data.source import AUTOTUNE
from pyfuncdbg.hosts.numpy.ops.data.source import INFINITE as INFINITE_CARDINALITY
from pyfuncdbg.hosts.numpy.ops.data.source import UNKNOWN as UNKNOWN_CARDINALITY
from pyfuncdbg.tf.data import experimental as experimental
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['AUTOTUNE', 'INFINITE_CARDINALITY', 'UNKNOWN_CARDINALITY', 'Dataset', 'Iterator', 'Options']

_publish(globals())
