"""`tf.random`."""
from pyfuncdbg.hosts.numpy.ops.random.random import categorical, set_seed, shuffle, truncated_normal
from pyfuncdbg.hosts.numpy.ops.random.random import random_normal as normal
from pyfuncdbg.hosts.numpy.ops.random.random import random_uniform as uniform
from pyfuncdbg.hosts.numpy.ops.random.stateless_random import (
    fold_in,
    split,
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from pyfuncdbg.tf.public import publish as _publish

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

_publish(globals())
