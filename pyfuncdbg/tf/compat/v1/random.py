"""`tf.compat.v1.random`."""
from pyfuncdbg.ops.random import (
    categorical,
    multinomial,
    shuffle,
    truncated_normal,
)
from pyfuncdbg.ops.random import (
    random_normal as normal,
)
from pyfuncdbg.ops.random import (
    random_uniform as uniform,
)
from pyfuncdbg.ops.random import (
    set_seed as set_random_seed,
)
from pyfuncdbg.ops.stateless_random import (
    stateless_categorical,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)

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
