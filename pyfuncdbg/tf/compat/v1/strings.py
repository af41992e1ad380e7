"""`tf.compat.v1.strings`: `split` gives a sparse tensor."""
from pyfuncdbg.hosts.numpy.ops.ragged.string_split import split_v1 as split
from pyfuncdbg.tf.public import publish as _publish
from pyfuncdbg.tf.strings import (
    as_string,
    bytes_split,
    format,
    join,
    length,
    lower,
    reduce_join,
    regex_full_match,
    regex_replace,
    strip,
    substr,
    to_number,
    unsorted_segment_join,
    upper,
)

__all__ = [
    'as_string', 'bytes_split', 'format', 'join', 'length', 'lower', 'reduce_join', 'regex_full_match', 'regex_replace',
    'split', 'strip', 'substr', 'to_number', 'unsorted_segment_join', 'upper',
]

_publish(globals())
