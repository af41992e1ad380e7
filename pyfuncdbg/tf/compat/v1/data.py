"""`tf.compat.v1.data`."""
from pyfuncdbg.hosts.numpy.ops.data.iterator import (
    get_output_shapes as get_output_shapes,
    get_output_types as get_output_types,
)
from pyfuncdbg.hosts.numpy.ops.data.options import Options as Options
from pyfuncdbg.hosts.numpy.ops.data.source import AUTOTUNE as AUTOTUNE, INFINITE as _INFINITE, UNKNOWN as _UNKNOWN
from pyfuncdbg.hosts.numpy.ops.data.version1 import (
    DatasetV1 as _DatasetV1,
    Iterator as Iterator,
    get_output_classes as get_output_classes,
    make_initializable_iterator as make_initializable_iterator,
    make_one_shot_iterator as make_one_shot_iterator,
)
from pyfuncdbg.tf.data import experimental as experimental
from pyfuncdbg.tf.public import publish as _publish

INFINITE_CARDINALITY = _INFINITE
UNKNOWN_CARDINALITY = _UNKNOWN
Dataset = _DatasetV1

_publish(globals())
