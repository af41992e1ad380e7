import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
def helper(x):
    return tf.matmul(x, x)
@tf.function
def f(x):
    y = helper(x)
    return y
show('shape', f, tf.ones([2, 3]))
@tf.function
def g(x):
    return x + 'a'
show('type', g, tf.constant(1))
@tf.function
def h(x):
    return f(x)
show('nested', h, tf.ones([2, 3]))
@tf.function
def d(x):
    return undefined_thing
show('name', d, 1)
@tf.function(autograph=False)
def off(x):
    raise ValueError('plain')
show('off', off, 1)
class Own(ValueError):
    def __init__(self, a, b): super().__init__(a, b)
@tf.function
def own(x):
    raise ValueError('several', 1)
show('args', own, 1)
@tf.function
def stop(x):
    raise StopIteration('s')
show('stop', stop, 1)
show('again', f, tf.ones([2, 3])); show('works', f, tf.ones([2, 2])); print(count(f))
