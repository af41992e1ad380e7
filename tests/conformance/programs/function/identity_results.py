import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x, y):
    return y, x
a, b = tf.constant(1), tf.constant(2)
r = f(a, b); print(r[0] is b, r[1] is a, [int(v) for v in r])
@tf.function
def g(x):
    return [x, x + 0, tf.identity(x)]
print([int(v) for v in g(a)])
@tf.function
def h():
    return tf.constant([1, 2]), tf.zeros([2, 2]), tf.range(3)
show('constants', h)
print([ (o.name, o.type) for o in h.get_concrete_function().graph.get_operations()])
@tf.function
def unused(x, y, z):
    return y
show('unused', unused, 1, tf.constant(2), None)
print(unused.get_concrete_function(1, tf.TensorSpec([], tf.int32), None).inputs)
