import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [None, 3], name='x')
    labels = v1.placeholder(tf.int32, [None], name='labels')
    h = tf.nn.relu(x)
    h = tf.nn.sigmoid(h) + tf.nn.tanh(x)
    s = tf.nn.softmax(h)
    b = tf.nn.bias_add(x, tf.constant([1., 2., 3.]))
    n = tf.nn.l2_loss(x)
    e = tf.nn.leaky_relu(x)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
