import tensorflow as tf, numpy as np
p = tf.Variable([1., 2., 3.])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(tf.gather(p, [0, 2, 0]) ** 3)
    g = inner.gradient(y, p)
    s = tf.reduce_sum(tf.convert_to_tensor(g) ** 2)
print(tf.convert_to_tensor(outer.gradient(s, p)))
