import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = tf.constant(3.)
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x
g = t.gradient(y, x)
print(g)
print(v1.Session().run(g))
with tf.GradientTape() as a:
    a.watch(x)
    with tf.GradientTape() as b:
        b.watch(x)
        y = x ** 3
    dy = b.gradient(y, x)
print(v1.Session().run(a.gradient(dy, x)))
