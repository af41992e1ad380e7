"""`tf.dtypes.experimental`: the dtypes of 8 bits and fewer."""
from pyfuncdbg.hosts.numpy.graph.types.dtypes import (
    float8_e4m3fn as float8_e4m3fn,
    float8_e5m2 as float8_e5m2,
    int4 as int4,
    uint4 as uint4,
)
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
