"""A function under `custom_vjp` and one under `custom_jvp`: eager, traced, and traced but executed eagerly."""
import jax, jax.numpy as jnp
@jax.custom_vjp
def clip(x, limits):
    return x * limits['scale']
def clip_fwd(x, limits):
    return clip(x, limits), (x, limits)
def clip_bwd(res, g):
    x, limits = res
    g = jnp.clip(g, -1, 1)
    return g, {'scale': (g * x).sum()}
clip.defvjp(clip_fwd, clip_bwd)
@jax.custom_jvp
def cube(x):
    return x ** 3
@cube.defjvp
def cube_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return cube(x), 3 * x ** 2 * t
def loss(x):
    return clip(cube(x), {'scale': jnp.float32(2)}).sum()
x = jnp.arange(3.)
print(loss(x))
print(jax.grad(loss)(x))
step = jax.jit(jax.value_and_grad(loss))
for _ in range(3):
    print(step(x))
with jax.disable_jit():
    print(jax.grad(loss)(x))
