"""Runs that the user may abort, one after the other."""
import jax, jax.numpy as jnp, numpy as np, sys

from jax.experimental import io_callback
S=jax.ShapeDtypeStruct((),jnp.float32)
def half(v): return np.float32(v)
f=jax.jit(lambda v: jax.pure_callback(half,S,v))
g=jax.jit(lambda v: io_callback(half,S,v,ordered=True))
big=jnp.ones((1500,1500))
@jax.jit
def slow(a,k): return (a@a@a)[0,0]*0+k
slow(big,0.).block_until_ready()
for t in (lambda: f(1.), lambda: f(2.), lambda: float(f(slow(big,3.))), lambda: g(4.), lambda: float(f(5.))):
    try: print('value', t())
    except BaseException as e: print(type(e), repr(str(e))[:80])
print('end', float(g(6.)))
