"""`tf.compat`."""
from pyfuncdbg.graph.dimension import value_of as dimension_value
from pyfuncdbg.graph.shapes import dimension_at_index
from pyfuncdbg.tf.compat import v1

__all__ = ['dimension_at_index', 'dimension_value', 'v1']
