"""Errors of many kinds with their tracebacks, as the program sees them."""
import jax, jax.numpy as jnp, numpy as np, sys, traceback, logging, re
logging.getLogger('jax').setLevel(logging.CRITICAL)
S=jax.ShapeDtypeStruct((3,),jnp.float32)
def bad(v): raise KeyError('x')
def wrongshape(v): return np.zeros(4,np.float32)
def show(name, t):
    try: t(); print(name,'fine')
    except Exception:
        print(name); traceback.print_exc(file=sys.stdout)
f=jax.jit(lambda v: jax.pure_callback(bad,S,v))
x=jnp.ones(3)
show('shape', lambda: jax.jit(lambda v: jax.pure_callback(wrongshape,S,v))(x))    # before any callback has raised
show('callback', lambda: f(x))
show('eager callback', lambda: jax.pure_callback(bad,S,x))
show('debug', lambda: (jax.jit(lambda v: jax.debug.callback(bad,v))(x), jax.effects_barrier()))
show('eager debug', lambda: jax.debug.callback(bad,x))
show('trace', lambda: jax.jit(lambda v: v@jnp.ones(4))(x))
show('tracer', lambda: jax.jit(lambda v: 1 if v[0]>0 else 2)(x))
show('grad', lambda: jax.grad(lambda v: jax.pure_callback(bad,S,v).sum())(x))
show('vmap', lambda: jax.vmap(lambda v: jax.pure_callback(bad,S,v))(jnp.ones((2,3))))
show('vmap of jit', lambda: jax.vmap(f)(jnp.ones((2,3))))
from jax._src.core import Primitive
p=Primitive('nolower'); p.def_abstract_eval(lambda a: a)
show('lowering', lambda: jax.jit(lambda v: p.bind(v))(x))
show('donated', lambda: (lambda d: (jax.jit(lambda v: v+1, donate_argnums=0)(d), d+1))(x+1))
show('io in vmap', lambda: jax.jit(jax.vmap(lambda v: jax.experimental.io_callback(bad,S,v,ordered=True)))(jnp.ones((2,3))))
