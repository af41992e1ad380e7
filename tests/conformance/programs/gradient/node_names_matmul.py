import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [2, 3], name='x')
w = v1.placeholder(tf.float32, [3, 4], name='w')
h = tf.nn.relu(tf.matmul(x, w, name='mm'), name='h')
loss = tf.reduce_mean(h, name='loss')
tf.gradients(loss, [x, w])
for op in v1.get_default_graph().get_operations(): print(op.name, op.type, [i.name for i in op.inputs])
