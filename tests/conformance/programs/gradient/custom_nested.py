import tensorflow as tf, numpy as np
@tf.custom_gradient
def inner(x):
    return x * 2., lambda d: d * 20.
@tf.custom_gradient
def outer(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = inner(x)
    dy = t.gradient(y, x)
    return y, lambda d: d * dy * 3.
x = tf.constant(1.)
with tf.GradientTape() as t:
    t.watch(x)
    y = outer(inner(x))
print(y, t.gradient(y, x))
@tf.function
def f(x): return outer(inner(x))
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
print(y, t.gradient(y, x))
