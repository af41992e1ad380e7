"""`tf.strings`."""
from pyfuncdbg.hosts.numpy.ops.strings.regex import (
    bytes_split,
    regex_full_match,
    regex_replace,
    split,
    unsorted_segment_join,
)
from pyfuncdbg.hosts.numpy.ops.strings.strings import (
    as_string,
    format,
    join,
    length,
    lower,
    reduce_join,
    strip,
    substr,
    to_number,
    upper,
)
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'as_string',
    'bytes_split',
    'format',
    'join',
    'length',
    'lower',
    'reduce_join',
    'regex_full_match',
    'regex_replace',
    'split',
    'strip',
    'substr',
    'to_number',
    'unsorted_segment_join',
    'upper',
]

_publish(globals())
