import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    s = v1.placeholder(tf.string, [None], name='s')
    tf.strings.join([s, s], separator='-')
    tf.strings.length(s)
    tf.strings.upper(s)
    tf.as_string(tf.constant([1, 2]))
message = g.as_graph_def()
message.ClearField('versions')
print(message)
