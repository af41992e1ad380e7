"""`tf.strings`."""
from pyfuncdbg.hosts.numpy.ops.ragged.string_split import bytes_split, split
from pyfuncdbg.hosts.numpy.ops.strings.regex import regex_full_match, regex_replace, unsorted_segment_join
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
