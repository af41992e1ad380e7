import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
import gc, weakref
class A:
    @tf.function
    def f(self, x):
        return x
a = A(); a.f(tf.constant(1)); r = weakref.ref(a); del a; gc.collect(); print(r() is None)
class B: pass
@tf.function
def g(o, x):
    return x
b = B(); g(b, tf.constant(1)); r = weakref.ref(b); del b; gc.collect(); print(r() is None); print(count(g))
v = tf.Variable(1.)
@tf.function
def h(x):
    return x + v
h(tf.constant(1.))
del v
show('variable gone', h, tf.constant(1.))
