import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    v1.placeholder(tf.float32)
    v1.placeholder(tf.int32, [None, 3], name='ids')
    v1.placeholder(tf.string, [], name='text')
    v1.placeholder_with_default(tf.constant([1., 2.]), [None], name='d')
    v1.placeholder(tf.bool, shape=(2,))
message = g.as_graph_def()
message.ClearField('versions')
print(message)
