import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    v = tf.Variable([1., 2.], name='v')
    y = v + 1.
message = g.as_graph_def()
message.ClearField('versions')
print(message)
