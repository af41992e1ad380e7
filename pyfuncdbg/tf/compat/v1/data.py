"""`tf.compat.v1.data`."""
from pyfuncdbg.hosts.numpy.ops.data.options import Options
from pyfuncdbg.hosts.numpy.ops.data.source import AUTOTUNE
from pyfuncdbg.hosts.numpy.ops.data.source import INFINITE as INFINITE_CARDINALITY
from pyfuncdbg.hosts.numpy.ops.data.source import UNKNOWN as UNKNOWN_CARDINALITY
from pyfuncdbg.hosts.numpy.ops.data.version1 import DatasetV1 as Dataset
from pyfuncdbg.hosts.numpy.ops.data.version1 import (
    Iterator,
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
from pyfuncdbg.tf.data import experimental as experimental
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'AUTOTUNE',
    'INFINITE_CARDINALITY',
    'UNKNOWN_CARDINALITY',
    'Dataset',
    'Iterator',
    'Options',
    'get_output_classes',
    'get_output_shapes',
    'get_output_types',
    'make_initializable_iterator',
    'make_one_shot_iterator',
]

_publish(globals())
