import tensorflow as tf, numpy as np
x = tf.constant(3.)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * x
    z = y * y
print(t.gradient(z, x), t.gradient(y, x), t.gradient(z, y), t.gradient([y, z], x))
del t
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x ** 3
    dy = t.gradient(y, x)
    ddy = t.gradient(dy, x)
print(dy, ddy)
