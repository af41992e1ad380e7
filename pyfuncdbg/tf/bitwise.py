"""`tf.bitwise`."""
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import (
    bitwise_and as bitwise_and,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    left_shift as left_shift,
    right_shift as right_shift,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import invert as invert
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
