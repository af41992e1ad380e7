"""`tf.bitwise`."""
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import invert
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'bitwise_and', 'bitwise_or', 'bitwise_xor', 'invert', 'left_shift', 'right_shift',
]

_publish(globals())
