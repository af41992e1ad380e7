import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x, w = tf.constant([[1., 2.]]), tf.constant([[3.], [4.]])
y = tf.matmul(x, w)
g = tf.gradients(y, [x, w], gate_gradients=True)
print([t.op.type for t in g], [t.name for t in g])
print(v1.Session().run(g))
g = v1.gradients(y, [x, w], colocate_gradients_with_ops=True)
print([t.op.colocation_groups() for t in g])
