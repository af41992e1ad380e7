import tensorflow as tf, numpy as np
tf.random.set_seed(3)
x = tf.constant([1., 2., 3., 4.])
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.nn.dropout(x, 0.5)
g = t.gradient(y, x)
print(bool(tf.reduce_all((g == 0.) == (y == 0.))))
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.random.normal([4], mean=x)
print(t.gradient(y, x))
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.random.shuffle(x)
print(t.gradient(y, x))
