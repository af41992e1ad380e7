import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def a(x): "doc"; return x
@tf.function()
def b(x): return x
@tf.function(autograph=False, reduce_retracing=True)
def c(x): return x
d = tf.function(lambda x: x)
for f in (a, b, c, d): show(f.__name__, f, tf.constant(1))
print(a.__doc__, a.__wrapped__ is a.python_function, a.python_function.__name__, callable(a))
import inspect
print(inspect.signature(a))
show('not callable', tf.function, 5)
show('unknown', lambda: tf.function(lambda: 1, wrong=1))
import functools
show('partial', tf.function(functools.partial(lambda x, y: x - y, y=2)), tf.constant(5))
class Callable:
    def __call__(self, x): return x + 1
show('object', tf.function(Callable()), tf.constant(5)); show('twice', tf.function(tf.function(lambda x: x + 1)), tf.constant(5)); show('builtin', tf.function(abs), tf.constant(-5)); show('op', tf.function(tf.square), tf.constant(-5))
