"""`tf.compat`."""
from typing import TYPE_CHECKING

from pyfuncdbg.hosts.numpy.graph.types.dimension import value_of as _value_of
from pyfuncdbg.hosts.numpy.graph.types.shapes import dimension_at_index as dimension_at_index
from pyfuncdbg.hosts.numpy.ops.strings.text import (
    as_bytes as as_bytes,
    as_str as as_str,
    as_str_any as as_str_any,
    as_text as as_text,
    bytes_or_text_types as bytes_or_text_types,
    complex_types as complex_types,
    forward_compatible as forward_compatible,
    integral_types as integral_types,
    path_to_str as path_to_str,
    real_types as real_types,
)
from pyfuncdbg.tf.lazy_names import late
from pyfuncdbg.tf.public import publish as _publish

dimension_value = _value_of

if TYPE_CHECKING:
    from pyfuncdbg.tf.compat import v1 as v1

__getattr__, __dir__ = late(__name__, {'v1': f'{__name__}.v1'})

_publish(globals())
