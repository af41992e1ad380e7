"""`tf.data.experimental`."""
from pyfuncdbg.hosts.numpy.ops.data.iterator import Optional as Optional
from pyfuncdbg.hosts.numpy.ops.data.options import Options as Options
from pyfuncdbg.hosts.numpy.ops.data.source import AUTOTUNE as AUTOTUNE, INFINITE as _INFINITE, UNKNOWN as _UNKNOWN
from pyfuncdbg.hosts.numpy.ops.data.transformations import (
    assert_cardinality as assert_cardinality,
    cardinality as cardinality,
    choose_from_datasets as choose_from_datasets,
    copy_to_device as copy_to_device,
    dense_to_ragged_batch as dense_to_ragged_batch,
    enumerate_dataset as enumerate_dataset,
    get_next_as_optional as get_next_as_optional,
    get_single_element as get_single_element,
    get_structure as get_structure,
    map_and_batch as map_and_batch,
    parallel_interleave as parallel_interleave,
    prefetch_to_device as prefetch_to_device,
    random_dataset as _random_dataset,
    sample_from_datasets as sample_from_datasets,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    take_while as take_while,
    unbatch as unbatch,
)
from pyfuncdbg.tf.public import publish as _publish

INFINITE_CARDINALITY = _INFINITE
UNKNOWN_CARDINALITY = _UNKNOWN
RandomDataset = _random_dataset

_publish(globals())
