import tensorflow as tf, numpy as np
@tf.function
def f(x):
    z = tf.cond(x > 1., lambda: x ** 3, lambda: x)
    w = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, z])[1]
    return w
x = tf.constant(2.)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = f(x)
    g = inner.gradient(y, x)
print(y, g, outer.gradient(g, x))
