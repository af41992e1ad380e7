"""`tf.nest`."""
from pyfuncdbg.hosts.numpy.graph.types.nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['assert_same_structure', 'flatten', 'is_nested', 'map_structure', 'pack_sequence_as']

_publish(globals())
