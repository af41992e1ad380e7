import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
p = tf.constant([[1., 2.], [3., 4.], [5., 6.]], name='p')
i = tf.constant([2, 0, 2], name='i')
g, = tf.gradients(tf.gather(p, i) * 2., p)
print(type(g).__name__)
print(g)
print(g.values, g.indices, g.dense_shape, g.dtype, g.shape, g.name, g.op.name)
s = v1.Session()
print(s.run(g))
print(s.run(tf.convert_to_tensor(g)))
print(s.run([g.values, g.indices, g.dense_shape]))
