import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [None]); y = tf.scan(lambda a, e: a * e, x); z = tf.scan(lambda a, e: a + e, tf.ones([3, 2]))
print(y.name, y.shape, z.name, z.shape)
s = v1.Session()
g = tf.gradients(y, x); print(s.run([y, g, tf.gradients(g, x)], {x: [1., 2., 3.]}), s.run(z))
print(tf.foldl(lambda a, e: a + e, x).name, tf.foldr(lambda a, e: a + e, x).name)
