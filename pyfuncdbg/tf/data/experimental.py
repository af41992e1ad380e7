"""`tf.data.experimental`."""
from pyfuncdbg.ops.data.dataset import AUTOTUNE
from pyfuncdbg.ops.data.iterator import Optional
from pyfuncdbg.ops.data.options import Options
from pyfuncdbg.ops.data.source import INFINITE as INFINITE_CARDINALITY
from pyfuncdbg.ops.data.source import UNKNOWN as UNKNOWN_CARDINALITY
from pyfuncdbg.ops.data.transformations import (
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
from pyfuncdbg.ops.data.transformations import random_dataset as RandomDataset

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
