import tensorflow as tf, numpy as np
x, w = tf.constant(2.), tf.constant([1., 2.])
v = tf.Variable([[1.]])
with tf.GradientTape(persistent=True) as t:
    t.watch([x, w])
    y = x * x
print(t.gradient(y, w), t.gradient(y, [x, w, v]))
print(t.gradient(y, [x, w, v], unconnected_gradients=tf.UnconnectedGradients.ZERO))
print(t.gradient(y, w, unconnected_gradients='zero'))
print(tf.UnconnectedGradients.ZERO, repr(tf.UnconnectedGradients('none')))
