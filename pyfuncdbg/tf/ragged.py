"""`tf.ragged`."""
from pyfuncdbg.hosts.numpy.ops.ragged.arithmetic import map_flat_values
from pyfuncdbg.hosts.numpy.ops.ragged.constant import constant, constant_value, placeholder
from pyfuncdbg.hosts.numpy.ops.ragged.construction import (
           boolean_mask,
           range,
           row_splits_to_segment_ids,
           segment_ids_to_row_splits,
           stack,
)
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedTensorValue
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['RaggedTensorValue', 'boolean_mask', 'constant', 'constant_value', 'map_flat_values', 'placeholder', 'range',
           'row_splits_to_segment_ids', 'segment_ids_to_row_splits', 'stack']

_publish(globals())
