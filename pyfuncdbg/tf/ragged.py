"""`tf.ragged`."""
from pyfuncdbg.hosts.numpy.ops.ragged.arithmetic import map_flat_values as map_flat_values
from pyfuncdbg.hosts.numpy.ops.ragged.constant import (
    constant as constant,
    constant_value as constant_value,
    placeholder as placeholder,
)
from pyfuncdbg.hosts.numpy.ops.ragged.construction import (
    boolean_mask as boolean_mask,
    range as range,
    row_splits_to_segment_ids as row_splits_to_segment_ids,
    segment_ids_to_row_splits as segment_ids_to_row_splits,
    stack as stack,
)
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedTensorValue as RaggedTensorValue
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
