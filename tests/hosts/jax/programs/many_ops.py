"""Programs of many kinds under observation of ops: the results are the same."""
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=2'
import functools, jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, PartitionSpec as P
x = jnp.arange(6.).reshape(2, 3)
def show(name, value): print(name, [np.asarray(jax.random.key_data(v) if jax.dtypes.issubdtype(v.dtype, jax.dtypes.prng_key) else v).astype(np.float64).round(4).tolist() for v in jax.tree.leaves(value)])
@jax.jit
def scan(v):
    return jax.lax.scan(lambda c, row: (c + jnp.sin(row), c * row), v[0], v)
show('scan', scan(x))
@jax.jit
def loop(v):
    return jax.lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, v)
show('while', loop(x))
@jax.jit
def branch(v):
    return jax.lax.cond(v[0, 0] > 0, lambda c: c + 1, lambda c: jax.lax.switch(2, [jnp.sin, jnp.cos, jnp.tan], c), v)
show('cond', branch(x))
@jax.jit
def nested(v):
    inner = jax.jit(lambda w: jnp.where(w > 1, w, -w) @ w.T)
    return inner(v), jax.checkpoint(lambda w: jnp.tanh(w).sum())(v)
show('nested', nested(x))
show('grad', jax.jit(jax.grad(lambda v: scan(v)[0].sum() + jax.checkpoint(lambda w: jnp.tanh(w).sum())(v)))(x))
@jax.jit
def keys(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a, (2,)), b, jax.random.bits(b, (2,))
show('keys', keys(jax.random.key(3)))
show('bf16', jax.jit(lambda v: (v.astype(jnp.bfloat16) * 2).sum())(x))
show('vmap', jax.jit(jax.vmap(lambda v: jnp.sort(v)[::-1]))(x))
@functools.partial(jax.jit, donate_argnums=0)
def donated(v): return v + 1
show('donated', donated(x + 0))
mesh = Mesh(np.array(jax.devices()), ('i',))
@jax.jit
@functools.partial(jax.shard_map, mesh=mesh, in_specs=P('i'), out_specs=P())
def total(v): return jax.lax.psum(jnp.exp(v).sum(0), 'i')
show('shard_map', total(x))
show('pmap', jax.pmap(lambda v: jax.lax.psum(v * 2, 'i'), axis_name='i')(x))
sharded = jax.device_put(x, jax.sharding.NamedSharding(mesh, P('i')))
show('auto', jax.jit(lambda v: (v * 3).sum())(sharded))
@jax.custom_jvp
def cube(v): return v ** 3
cube.defjvp(lambda p, t: (cube(p[0]), 3 * p[0] ** 2 * t[0]))
show('jvp', jax.jit(jax.grad(lambda v: cube(v).sum()))(x))
show('hess', jax.jit(jax.hessian(lambda v: (v ** 3).sum()))(x[0]))
show('static', jax.jit(lambda v, n: v * n, static_argnums=1)(x, 3))
show('cumsum', jax.jit(lambda v: jax.lax.associative_scan(jnp.add, v, axis=1))(x))
show('int', jax.jit(lambda v: jnp.argmax(v, 1) + v.astype(int).sum())(x))
show('solve', jax.jit(lambda v: jnp.linalg.solve(v[:, :2] + jnp.eye(2), v[:, 0]))(x))
for _ in range(2): show('twice', nested(x))
print('end')
