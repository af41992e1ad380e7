"""`tf.compat`."""
from typing import TYPE_CHECKING

from pyfuncdbg.graph.dimension import value_of as dimension_value
from pyfuncdbg.graph.shapes import dimension_at_index
from pyfuncdbg.tf.late import late

if TYPE_CHECKING:
    from pyfuncdbg.tf.compat import v1

__all__ = ['dimension_at_index', 'dimension_value', 'v1']

__getattr__, __dir__ = late(__name__, {'v1': f'{__name__}.v1'})
