import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = tf.constant([1., 2.], name='x')
print(tf.hessians(tf.reduce_sum(x ** 3), x), tf.hessians(tf.reduce_sum(x ** 2), x, name='h2'))
