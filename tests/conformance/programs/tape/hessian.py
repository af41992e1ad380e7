import tensorflow as tf, numpy as np
x = tf.constant([1., 2., 3.])
with tf.GradientTape(persistent=True) as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = tf.reduce_prod(x) + tf.reduce_sum(x ** 4)
    g = inner.gradient(y, x)
print(g)
print(outer.jacobian(g, x))
print(outer.jacobian(g, x, experimental_use_pfor=False))
