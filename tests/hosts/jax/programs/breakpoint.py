"""A breakpoint in a traced function."""
import jax, jax.numpy as jnp
scale = 3.
def loss(w, x):
    h = jnp.tanh(x * w)
    names = ['a', 'b']
    jax.debug.breakpoint()
    return h.sum() * scale
@jax.jit
def step(w, x):
    y = w + 1
    return loss(y, x)
print(step(jnp.ones(3), jnp.arange(3.)))
jax.effects_barrier()
