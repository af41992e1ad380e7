import jax
import jax.numpy as jnp
from jax import lax

twice = jax.jit(lambda v: jnp.sin(v) * 2)


def loss(w, x):
    h = jnp.sin(w * x)
    return jnp.sum(jnp.sqrt(h))


x = jnp.arange(3.)
for k in range(3):
    y = x + (2 - k)
    z = lax.log(y)
    g = jax.grad(loss)(jnp.ones(3), y)
    u = twice(z)
    n = jnp.linalg.norm(jnp.where(u > 0, u, 0.))
    m = jax.vmap(twice)(x)
    print(y, z, g, u, n, m.sum(), x[0])
