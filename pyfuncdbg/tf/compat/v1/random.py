"""`tf.compat.v1.random`."""
from pyfuncdbg.ops.random import (
    random_normal as normal,
)
from pyfuncdbg.ops.random import (
    random_uniform as uniform,
)
from pyfuncdbg.ops.random import (
    set_seed as set_random_seed,
)
from pyfuncdbg.ops.random import (
    shuffle,
    truncated_normal,
)

__all__ = [
    'normal', 'set_random_seed', 'shuffle', 'truncated_normal', 'uniform',
]
