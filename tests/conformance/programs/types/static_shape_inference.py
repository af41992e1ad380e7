import tensorflow as tf, numpy as np
v1 = tf.compat.v1
with tf.Graph().as_default():
    for a in (None, [], [None], [3], [None, 3], [2, 3]):
        p = v1.placeholder(tf.float32, a)
        print(p.shape, (p + 1).shape, (p + [1., 2., 3.]).shape, tf.reduce_sum(p).shape, tf.shape(p).shape, tf.expand_dims(p, 0).shape, tf.stack([p, p]).shape,
              tf.identity(p).shape, tf.reshape(p, [-1]).shape, tf.transpose(p).shape, tf.zeros_like(p).shape, tf.cast(p, tf.int32).shape)
