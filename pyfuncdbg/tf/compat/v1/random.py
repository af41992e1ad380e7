"""`tf.compat.v1.random`."""
from pyfuncdbg.hosts.numpy.ops.random.random import categorical, multinomial, shuffle, truncated_normal
from pyfuncdbg.hosts.numpy.ops.random.random import random_normal as normal
from pyfuncdbg.hosts.numpy.ops.random.random import random_uniform as uniform
from pyfuncdbg.hosts.numpy.ops.random.random import set_seed as set_random_seed
from pyfuncdbg.hosts.numpy.ops.random.stateless_random import (
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'categorical',
    'multinomial',
    'normal',
    'set_random_seed',
    'shuffle',
    'stateless_categorical',
    'stateless_normal',
    'stateless_truncated_normal',
    'stateless_uniform',
    'truncated_normal',
    'uniform',
]

_publish(globals())
