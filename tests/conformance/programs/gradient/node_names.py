import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [3], name='x')
w = tf.constant([1., 2., 3.], name='w')
y = tf.reduce_sum(tf.square(x * w), name='loss')
tf.gradients(y, x)
for op in v1.get_default_graph().get_operations(): print(op.name, op.type, [i.name for i in op.inputs])
