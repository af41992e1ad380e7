"""`tf.dtypes.experimental`: the dtypes of 8 bits and fewer."""
from pyfuncdbg.hosts.numpy.graph.types.dtypes import float8_e4m3fn, float8_e5m2, int4, uint4
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['float8_e4m3fn', 'float8_e5m2', 'int4', 'uint4']

_publish(globals())
