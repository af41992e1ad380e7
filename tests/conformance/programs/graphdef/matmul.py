import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [None, 4], name='x')
    w = tf.constant(np.ones((4, 2), np.float32), name='w')
    y = tf.matmul(x, w, name='y')
    z = tf.matmul(x, y, transpose_a=True)
    b = tf.matmul(tf.ones([2, 3, 4]), tf.ones([2, 4, 5]))
    t = tf.transpose(y)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
