"""Errors of callbacks wherever they surface, with their text."""
import jax, jax.numpy as jnp, numpy as np, sys, traceback, logging
logging.getLogger('jax').setLevel(logging.CRITICAL)
S=jax.ShapeDtypeStruct((),jnp.float32)
def half(v):
    if v==3: raise ArithmeticError('three')
    return np.float32(v)
f=jax.jit(lambda v: jax.pure_callback(half,S,v))
def go(name, t):
    try: r=t(); print(name, 'has returned')
    except Exception as e: print(name, type(e), str(e)[:3000], 'CAUSE', repr(e.__cause__)); 
f(1.);f(1.)
go('fast', lambda: f(3.))
other=jax.jit(lambda v: jax.pure_callback(half,S,v)+1)
go('slow', lambda: other(3.))
big=jnp.ones((1500,1500))
@jax.jit
def slow(a,k): return (a@a@a)[0,0]*0+k
slow(big,0.).block_until_ready()
try: z=f(slow(big,3.))
except Exception as e: go('at once', lambda: exec('raise e', {'e': e}))     # JAX 0.6 waits for the input
else:
    go('late', lambda: float(z))
    go('again', lambda: float(z))
    go('block', lambda: z.block_until_ready())
    go('use', lambda: (z+1).block_until_ready())
go('vmap', lambda: jax.vmap(lambda v: jax.pure_callback(half,S,v,vmap_method='sequential'))(jnp.arange(5.)))
def note(v):
    if v==3: raise KeyError('noted')
h=jax.jit(lambda v: (jax.debug.callback(note,v),v+1)[1])
h(1.); h(2.)
go('debug', lambda: h(3.))
go('barrier', lambda: jax.effects_barrier())
go('eager', lambda: jax.pure_callback(half,S,3.))
go('fast again', lambda: f(3.))
assert sys.gettrace() is None
