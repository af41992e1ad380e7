import tensorflow as tf, numpy as np
@tf.function
def inner(x): return x ** 3
@tf.function
def outer(x): return inner(x) + inner(2. * x)
x = tf.constant(2.)
with tf.GradientTape() as a:
    a.watch(x)
    with tf.GradientTape() as b:
        b.watch(x)
        with tf.GradientTape() as c:
            c.watch(x)
            y = outer(x)
        dy = c.gradient(y, x)
    ddy = b.gradient(dy, x)
print(y, dy, ddy, a.gradient(ddy, x))
@tf.function
def inside(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = outer(x)
    return t.gradient(y, x)
print(inside(x))
with tf.GradientTape() as t:
    t.watch(x)
    dy = inside(x)
print(t.gradient(dy, x))
