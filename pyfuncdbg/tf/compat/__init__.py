"""`tf.compat`."""
from typing import TYPE_CHECKING

from pyfuncdbg.hosts.numpy.graph.types.dimension import value_of as dimension_value
from pyfuncdbg.hosts.numpy.graph.types.shapes import dimension_at_index
from pyfuncdbg.hosts.numpy.ops.strings.text import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    forward_compatible,
    integral_types,
    path_to_str,
    real_types,
)
from pyfuncdbg.tf.lazy_names import late
from pyfuncdbg.tf.public import publish as _publish

if TYPE_CHECKING:
    from pyfuncdbg.tf.compat import v1

__all__ = ['as_bytes', 'as_str', 'as_str_any', 'as_text', 'bytes_or_text_types', 'complex_types', 'dimension_at_index',
           'dimension_value', 'forward_compatible', 'integral_types', 'path_to_str', 'real_types', 'v1']

__getattr__, __dir__ = late(__name__, {'v1': f'{__name__}.v1'})

_publish(globals())
