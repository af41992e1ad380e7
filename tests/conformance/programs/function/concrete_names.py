import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x):
    return x
c = f.get_concrete_function(tf.TensorSpec([], tf.int32, name='first'))
print(c.structured_input_signature); show('by name', c, first=tf.constant(1)); show('by argument', c, x=tf.constant(1))
print(c.inputs)
@tf.function
def g(a, b=2, *, c=3):
    return a
k = g.get_concrete_function(tf.TensorSpec([], tf.int32), 5, c=tf.TensorSpec([], tf.float32))
print(k.structured_input_signature); print(k)
show('call', k, tf.constant(1), c=tf.constant(2.)); show('with python', k, tf.constant(1), 5, c=tf.constant(2.)); show('other python', k, tf.constant(1), 6, c=tf.constant(2.))
d = g.get_concrete_function(1)
show('python only', d); show('same', d, 1); show('other', d, 2); print(d)
