"""`tf.data.experimental`."""
from pyfuncdbg.hosts.numpy.ops.data.iterator import Optional
from pyfuncdbg.hosts.numpy.ops.data.options import Options
from pyfuncdbg.hosts.numpy.ops.data.source import AUTOTUNE
from pyfuncdbg.hosts.numpy.ops.data.source import INFINITE as INFINITE_CARDINALITY
from pyfuncdbg.hosts.numpy.ops.data.source import UNKNOWN as UNKNOWN_CARDINALITY
from pyfuncdbg.hosts.numpy.ops.data.transformations import (
    assert_cardinality,
    cardinality,
    choose_from_datasets,
    copy_to_device,
    dense_to_ragged_batch,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    get_structure,
    map_and_batch,
    parallel_interleave,
    prefetch_to_device,
    sample_from_datasets,
    scan,
    shuffle_and_repeat,
    take_while,
    unbatch,
)
from pyfuncdbg.hosts.numpy.ops.data.transformations import random_dataset as RandomDataset
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'AUTOTUNE',
    'INFINITE_CARDINALITY',
    'UNKNOWN_CARDINALITY',
    'Optional',
    'Options',
    'RandomDataset',
    'assert_cardinality',
    'cardinality',
    'choose_from_datasets',
    'copy_to_device',
    'dense_to_ragged_batch',
    'enumerate_dataset',
    'get_next_as_optional',
    'get_single_element',
    'get_structure',
    'map_and_batch',
    'parallel_interleave',
    'prefetch_to_device',
    'sample_from_datasets',
    'scan',
    'shuffle_and_repeat',
    'take_while',
    'unbatch',
]

_publish(globals())
