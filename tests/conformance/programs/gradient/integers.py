import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = tf.constant([1, 2])
y = tf.constant([1., 2.])
print(tf.gradients(tf.cast(x, tf.float32) * y, [x, y]))
print(tf.gradients(x * 2, x))
print(tf.gradients(tf.gather(y, x - 1), x))
