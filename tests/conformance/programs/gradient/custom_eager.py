import tensorflow as tf, numpy as np
@tf.custom_gradient
def clip(x, limit=1.):
    return x, lambda d: (tf.clip_by_value(d, -limit, limit))
x = tf.constant(3.)
with tf.GradientTape() as t:
    t.watch(x)
    y = clip(x) * 5.
print(t.gradient(y, x))
with tf.GradientTape() as t:
    t.watch(x)
    y = clip(x, limit=2.) * 5.
print(t.gradient(y, x))
@tf.custom_gradient
def cube(x):
    def grad(d): return 3. * x * x * d
    return x * x * x, grad
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = cube(x)
    dy = inner.gradient(y, x)
print(dy, outer.gradient(dy, x))
