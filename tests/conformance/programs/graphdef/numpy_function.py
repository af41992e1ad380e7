import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    y = tf.numpy_function(lambda a: a, [tf.constant([1, 2])], tf.int64, name='nf')
    z = tf.numpy_function(lambda: 'a', [], tf.string, stateful=False)
    with tf.name_scope('s'), tf.device('/cpu:0'):
        w = tf.numpy_function(lambda a, b: a, [y, 'text'], tf.int64)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
