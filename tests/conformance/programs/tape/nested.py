import tensorflow as tf, numpy as np
x = tf.constant(2.)
with tf.GradientTape() as a:
    a.watch(x)
    with tf.GradientTape() as b:
        b.watch(x)
        with tf.GradientTape() as c:
            c.watch(x)
            y = x ** 4
        d1 = c.gradient(y, x)
    d2 = b.gradient(d1, x)
d3 = a.gradient(d2, x)
print(d1, d2, d3)
