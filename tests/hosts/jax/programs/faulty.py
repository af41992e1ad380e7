"""A program with one fault of each kind that the doctor knows."""
import logging, time
import jax, jax.numpy as jnp, numpy as np
logging.getLogger('jax').setLevel(logging.CRITICAL)
scalar = jax.ShapeDtypeStruct((), jnp.float32)

def note(v):
    print('noted')
    return np.asarray(v)
@jax.jit
def forgetful(v):
    jax.pure_callback(note, scalar, v)          # dead
    return v + 1
forgetful(1.)

def row(v): return np.asarray(v)
def rows(v): return jax.pure_callback(row, scalar, v, vmap_method='sequential_unrolled')     # as it says
jax.jit(jax.vmap(rows))(jnp.ones(3))

@jax.custom_vjp
def again(v): return jax.pure_callback(row, scalar, v)      # repeated
again.defvjp(lambda v: (again(v), v), lambda v, t: (t * v,))
jax.jit(jax.value_and_grad(jax.checkpoint(lambda v: jnp.sin(again(v)))))(1.)

def slow(v):
    time.sleep(.05)
    return np.asarray(v)
blocked = jax.jit(lambda v: jax.pure_callback(slow, scalar, v))     # blocking
for k in range(4):
    blocked(float(k))

def picky(v):
    if v > 2:
        raise ValueError('too large')           # error type
    return np.asarray(v)
checked = jax.jit(lambda v: jax.pure_callback(picky, scalar, v))
for value in (1., 1., 3.):
    try:
        checked(value)
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        print(type(error).__name__)

@jax.jit
def total(values):                              # retraced
    return values.sum()
for size in range(1, 6):
    total(jnp.ones(size))

def mean(v): return np.asarray(v).mean()
summed = jax.jit(lambda v: jax.pure_callback(mean, scalar, v))      # copies
for _ in range(10):
    summed(jnp.ones((1024, 1024)))
print('end')
