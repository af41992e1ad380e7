"""`tf.compat.v1.random`."""
from pyfuncdbg.hosts.numpy.ops.random.random import (
    categorical as categorical,
    multinomial as multinomial,
    random_normal as _random_normal,
    random_uniform as _random_uniform,
    set_seed as _set_seed,
    shuffle as shuffle,
    truncated_normal as truncated_normal,
)
from pyfuncdbg.hosts.numpy.ops.random.stateless_random import (
    stateless_categorical as stateless_categorical,
    stateless_normal as stateless_normal,
    stateless_truncated_normal as stateless_truncated_normal,
    stateless_uniform as stateless_uniform,
)
from pyfuncdbg.tf.public import publish as _publish

normal = _random_normal
uniform = _random_uniform
set_random_seed = _set_seed

_publish(globals())
