import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    with v1.container('box'):
        v = v1.get_variable('v', initializer=2., use_resource=True)
    w = v1.get_variable('w', initializer=3., use_resource=True)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
