import tensorflow as tf, numpy as np
v = tf.Variable([1., 2.], name='v')
@tf.function
def loss(x): return tf.reduce_sum(v * x)
x = tf.constant([3., 4.])
with tf.GradientTape() as t:
    y = loss(x)
print(t.watched_variables()[0].name, t.gradient(y, v))
@tf.function
def step(x):
    with tf.GradientTape() as t:
        y = loss(x) ** 2
    g = t.gradient(y, v)
    v.assign_sub(0.01 * g)
    return g
print(step(x), v.numpy())
@tf.function
def by_gradients(x):
    return tf.gradients(loss(x) * 2., [x])[0]
print(by_gradients(x))
