import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1., 2.])
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.py_function(lambda a: tf.reduce_sum(a ** 3), [x], tf.float32)
print(t.gradient(y, x))
@tf.function
def f(x):
    return tf.py_function(lambda a: tf.reduce_sum(a ** 3), [x], tf.float32) * 2.
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
print(t.gradient(y, x))
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.py_function(lambda a: a.numpy() * 2., [x], tf.float32)
print(t.gradient(y, x))
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.numpy_function(lambda a: a * 2., [x], tf.float32)
show('numpy_function', lambda: t.gradient(y, x))
