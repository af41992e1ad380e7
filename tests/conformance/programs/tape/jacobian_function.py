import tensorflow as tf, numpy as np
v = tf.Variable([[1., 2.], [3., 4.]])
@tf.function
def f(x):
    with tf.GradientTape() as t:
        y = tf.linalg.matvec(v, x)
    return t.jacobian(y, v)
j = f(tf.constant([1., 2.]))
print(j.shape, tf.reduce_sum(j, [0, 1]))
@tf.function
def g(x):
    with tf.GradientTape() as t:
        t.watch(x)
        with tf.GradientTape() as s:
            s.watch(x)
            y = tf.reduce_sum(x ** 3)
        dy = s.gradient(y, x)
    return t.jacobian(dy, x)
print(g(tf.constant([1., 2.])))
