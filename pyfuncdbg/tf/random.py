"""`tf.random`."""
from pyfuncdbg.ops.random import categorical, set_seed, shuffle, truncated_normal
from pyfuncdbg.ops.random import random_normal as normal
from pyfuncdbg.ops.random import random_uniform as uniform
from pyfuncdbg.ops.stateless_random import (
    fold_in,
    split,
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    'categorical',
    'fold_in',
    'normal',
    'set_seed',
    'shuffle',
    'split',
    'stateless_categorical',
    'stateless_normal',
    'stateless_truncated_normal',
    'stateless_uniform',
    'truncated_normal',
    'uniform',
]
