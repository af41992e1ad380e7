"""Errors of callbacks that the program does not wait for: at each place where one surfaces, and at the end."""
import logging, time
logging.getLogger('jax').setLevel(logging.CRITICAL)
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import io_callback
S = jax.ShapeDtypeStruct((), jnp.float32)
def half(v):
    if v == 3: raise ArithmeticError('three')
    return np.float32(v / 2)
def note(v):
    if v == 3: raise KeyError('noted')
@jax.jit
def step(v): return jax.pure_callback(half, S, v)
@jax.jit
def noting(v):
    jax.debug.callback(note, v)
    return v
@jax.jit
def writing(v):
    io_callback(note, None, v, ordered=True)
    return v + 1
@jax.jit
def slowly(a, k): return (a @ a @ a)[0, 0] * 0 + k
def go(name, function, *args):
    try: function(*args); print(name, 'has returned')
    except Exception as error: print(name, repr(error.__cause__))
big = jnp.ones((1500, 1500))
for each in (step, noting, writing):
    each(slowly(big, 0.)).block_until_ready()
jax.effects_barrier()
readers = {'block': lambda v: v.block_until_ready(), 'block all': lambda v: jax.block_until_ready([v]), 'asarray': np.asarray,
           'float': float, 'item': lambda v: v.item(), 'device_get': jax.device_get, 'print': print, 'bool': bool,
           'use': lambda v: float(v + 1)}
late = [step(slowly(big, 3.)) for _ in readers]
for value, (name, reader) in zip(late, readers.items()): go(name, reader, value)
go('noting', noting, slowly(big, 3.))
go('barrier', jax.effects_barrier)
go('writing', writing, slowly(big, 3.))
go('ordered barrier', jax.effects_barrier)
left = noting(slowly(big, 3.))
time.sleep(2)
print('end', flush=True)
