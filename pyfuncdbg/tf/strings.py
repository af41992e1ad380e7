"""`tf.strings`."""
from pyfuncdbg.hosts.numpy.ops.ragged.string_split import bytes_split as bytes_split, split as split
from pyfuncdbg.hosts.numpy.ops.strings.regex import (
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    unsorted_segment_join as unsorted_segment_join,
)
from pyfuncdbg.hosts.numpy.ops.strings.strings import (
    as_string as as_string,
    format as format,
    join as join,
    length as length,
    lower as lower,
    reduce_join as reduce_join,
    strip as strip,
    substr as substr,
    to_number as to_number,
    upper as upper,
)
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
