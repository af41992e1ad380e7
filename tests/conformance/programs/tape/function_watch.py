import tensorflow as tf, numpy as np
@tf.function
def f(x, y):
    with tf.GradientTape() as t:
        t.watch([x, y])
        z = x * x * y
    return t.gradient(z, {'x': x, 'y': y})
print(f(tf.constant(2.), tf.constant(3.)))
x = tf.constant(2.)
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.function(lambda a: a ** 2)(x)
print(t.gradient(y, x))
c = tf.constant(5.)
@tf.function
def captured(x): return x * c
with tf.GradientTape() as t:
    t.watch([x, c])
    y = captured(x)
print(t.gradient(y, [x, c]))
