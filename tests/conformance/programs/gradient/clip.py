import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = tf.constant([3., 4.])
g, = tf.gradients(tf.reduce_sum(x * x), x)
s = v1.Session()
print(s.run(tf.clip_by_norm(g, 5.)), s.run(tf.clip_by_value(g, -7., 7.)))
found, norm = tf.clip_by_global_norm([g, None, tf.constant([0.])], 1.)
print(found[1], s.run([found[0], norm]))
print(s.run(tf.linalg.global_norm([g])))
