"""Callbacks within scan, while, cond, shard_map and pmap on four devices."""
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=4'
import warnings
warnings.simplefilter('ignore')
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
S = jax.ShapeDtypeStruct((), jnp.float32)
def scanned(c, x): return np.float32(c + x)
def counted(v): return np.float32(v * 2)
def tested(v): return np.bool_(v < 20)
def yes(v): return np.float32(v + 1)
def no(v): return np.float32(v - 1)
def sharded(v): return np.asarray(v) + 10
def mapped(v): return np.asarray(v) * 10
def in_both(v): return np.float32(v)

@jax.jit
def scan(x):
    def body(c, x):
        c = jax.pure_callback(scanned, S, c, x)
        return c, c
    return jax.lax.scan(body, jnp.float32(0), x)[1]

@jax.jit
def loop(v):
    return jax.lax.while_loop(lambda v: jax.pure_callback(tested, jax.ShapeDtypeStruct((), bool), v),
                              lambda v: jax.pure_callback(counted, S, v), v)

@jax.jit
def choose(v):
    return jax.lax.cond(v > 0, lambda v: jax.pure_callback(yes, S, v), lambda v: jax.pure_callback(no, S, v), v)

mesh = Mesh(np.array(jax.devices()), ('i',))

@jax.jit
@jax.shard_map(mesh=mesh, in_specs=P('i'), out_specs=P('i'))
def shard(v):
    return jax.pure_callback(sharded, jax.ShapeDtypeStruct(v.shape, v.dtype), v)

@jax.pmap
def each(v):
    return jax.pure_callback(mapped, jax.ShapeDtypeStruct(v.shape, v.dtype), v)

@jax.jit
@jax.shard_map(mesh=mesh, in_specs=P('i'), out_specs=P('i'))
def both(v):
    def body(c, x):
        return jax.lax.cond(c > 2, lambda c: jax.pure_callback(in_both, S, c) + 0 * c, lambda c: c, c) + 1, None
    first = v[0] + 0
    return jax.lax.scan(body, first, jnp.arange(3))[0][None]

for k in range(2):
    print(scan(jnp.arange(1., 4.) + k).tolist(), float(loop(jnp.float32(3 + k))), float(choose(jnp.float32(k))))
    print(shard(jnp.arange(8.) + k).tolist(), each(jnp.arange(4.) + k).tolist(), both(jnp.arange(4.) + k).tolist())
