"""`tf.bitwise`."""
from pyfuncdbg.ops.binary import bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift
from pyfuncdbg.ops.unary import invert

__all__ = [
    'bitwise_and', 'bitwise_or', 'bitwise_xor', 'invert', 'left_shift', 'right_shift',
]
