"""Arrays of devices whose memory is far: eager rules, and runs. Prints the most elements that were copied from there at once.

The devices are those of the CPU, which are taken for others: their arrays have no buffer, and copies are counted.
"""
import os

os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pyfuncdbg.hosts.jax import array_values, device_statistics
from pyfuncdbg.hosts.jax.graph_ops import eager_ops
from pyfuncdbg.observers.record.log import back_pressure

back_pressure.PATIENCE = 60.        # compiling takes its time on a busy machine
copied = []
kind = type(jax.device_put(1))
own_copies = {name: vars(kind)[name] for name in ('_single_device_array_to_np_array_did_copy', '_to_np_array_did_copy')
              if name in vars(kind)}            # the second one from JAX 0.12 on


def without_buffer(array):
    raise BufferError


def counted(own_copy):
    def counted_copy(array):
        copied.append(array.size)
        return own_copy(array)
    return counted_copy


@jax.custom_vjp
def doubled(x):
    return x * 2


doubled.defvjp(lambda x: (doubled(x), None), lambda _, g: (g * 2,))


def halved(x):
    return np.asarray(x) / 2


@jax.jit
def step(x):
    return x + jax.pure_callback(halved, jax.ShapeDtypeStruct((), x.dtype), x[0])


first, second = jax.devices()
shared = NamedSharding(Mesh(np.array([first, second]), ('i',)), PartitionSpec('i'))
x = jax.device_put(np.array([1, -1, np.nan, -np.inf, np.inf, 0, 3], np.float32), second)
y = jax.device_put(np.arange(-100., 200., dtype=np.float32), shared)
z = jax.device_put(np.full(500, 2, np.float32), first)
big = jax.device_put(np.ones((700, 700), np.float32), first)
device_statistics.NEAR = 'none'
array_values._view = eager_ops._view = without_buffer
for name, own_copy in own_copies.items():
    setattr(kind, name, counted(own_copy))
doubled(x)
doubled(y)
try:
    doubled('five')
except TypeError:
    print('five')
for _ in range(3):
    step(z)
jnp.cos(x)
doubled(big @ big @ big)            # not computed yet
print('copied', max(copied, default=0))
