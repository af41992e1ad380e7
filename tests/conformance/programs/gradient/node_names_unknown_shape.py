import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, name='x')
y = tf.tanh(x, name='y')
z = tf.sigmoid(y, name='z')
tf.gradients([z, y], [x], name='back')
for op in v1.get_default_graph().get_operations(): print(op.name, op.type, [i.name for i in op.inputs])
