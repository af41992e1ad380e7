import tensorflow as tf, numpy as np
x = tf.constant(2.)
with tf.GradientTape() as a:
    a.watch(x)
    with tf.GradientTape() as b:
        b.watch(x)
        y = x ** 2
print(b.gradient(y, x), a.gradient(y, x))
