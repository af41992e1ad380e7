import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [None, 2], name='x')
    with tf.name_scope('model'):
        w = v1.get_variable('w', [2, 3], initializer=v1.zeros_initializer(), use_resource=True)
        b = v1.get_variable('b', [3], initializer=v1.ones_initializer(), use_resource=True)
        logits = tf.matmul(x, w) + b
    probabilities = tf.nn.softmax(logits, name='probabilities')
message = g.as_graph_def()
message.ClearField('versions')
print(message)
