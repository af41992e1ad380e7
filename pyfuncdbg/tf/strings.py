"""`tf.strings`."""
from pyfuncdbg.ops.strings import as_string, format, join, length, lower, reduce_join, strip, substr, to_number, upper

__all__ = [
    'as_string', 'format', 'join', 'length', 'lower', 'reduce_join', 'strip', 'substr', 'to_number', 'upper',
]
