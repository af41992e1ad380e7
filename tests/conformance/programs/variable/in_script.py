import tensorflow as tf, numpy as np

v = tf.Variable(2.)


def grow(x):
    v.assign_add(float(x))
    return v.read_value()


print(tf.py_function(grow, [1.], tf.float32), v.numpy())


@tf.function
def f(x):
    return tf.py_function(grow, [x], tf.float32)


print(f(tf.constant(2.)), v.numpy())
print(tf.numpy_function(lambda a: a + 1., [v], tf.float32))
print(tf.py_function(lambda a: a * 2., [v], tf.float32))
with tf.GradientTape() as tape:
    y = tf.py_function(lambda a: a * a, [v], tf.float32)
print(tape.gradient(y, v))
