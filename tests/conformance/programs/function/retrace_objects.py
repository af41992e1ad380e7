import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
class A:
    pass
class E:
    def __init__(self, v): self.v = v
    def __eq__(self, other): return isinstance(other, E) and self.v == other.v
    def __hash__(self): return hash(self.v)
@tf.function
def f(a, x):
    return x
a, b = A(), A()
for v in (a, b, a): f(v, tf.constant(1))
print(count(f))
for v in (E(1), E(1), E(2)): f(v, tf.constant(1))
print(count(f) >= 4)
@tf.function
def g(fn, x):
    return fn(x)
h = lambda x: x
show('function', g, h, tf.constant(1)); show('function', g, h, tf.constant(2)); show('function', g, tf.abs, tf.constant(-2))
print(count(g))
