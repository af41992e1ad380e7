"""`tf.compat.v1.strings`: `split` gives a sparse tensor."""
from pyfuncdbg.hosts.numpy.ops.ragged.string_split import split_v1 as _split_v1
from pyfuncdbg.tf.public import publish as _publish
from pyfuncdbg.tf.strings import (
    as_string as as_string,
    bytes_split as bytes_split,
    format as format,
    join as join,
    length as length,
    lower as lower,
    reduce_join as reduce_join,
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    strip as strip,
    substr as substr,
    to_number as to_number,
    unsorted_segment_join as unsorted_segment_join,
    upper as upper,
)

split = _split_v1

_publish(globals())
