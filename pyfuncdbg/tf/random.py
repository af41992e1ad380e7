"""`tf.random`."""
from pyfuncdbg.ops.random import random_normal as normal
from pyfuncdbg.ops.random import random_uniform as uniform
from pyfuncdbg.ops.random import set_seed, shuffle, truncated_normal

__all__ = [
    'normal', 'set_seed', 'shuffle', 'truncated_normal', 'uniform',
]
