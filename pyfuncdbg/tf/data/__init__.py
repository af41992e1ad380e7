"""`tf.data`."""
from pyfuncdbg.hosts.numpy.ops.data.dataset import Dataset as Dataset
from pyfuncdbg.hosts.numpy.ops.data.iterator import OwnedIterator as _OwnedIterator
from pyfuncdbg.hosts.numpy.ops.data.options import Options as Options
from pyfuncdbg.hosts.numpy.ops.data.source import AUTOTUNE as AUTOTUNE, INFINITE as _INFINITE, UNKNOWN as _UNKNOWN
from pyfuncdbg.tf.data import experimental as experimental
from pyfuncdbg.tf.public import publish as _publish

Iterator = _OwnedIterator
INFINITE_CARDINALITY = _INFINITE
UNKNOWN_CARDINALITY = _UNKNOWN

_publish(globals())
