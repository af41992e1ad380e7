import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    v = v1.get_variable('v', initializer=1., use_resource=True)
    w = v1.get_variable('w', [2, 3], initializer=v1.zeros_initializer(), use_resource=True)
    init = v1.global_variables_initializer()
    up = v.assign(2.)
    add = v.assign_add(1.)
    y = v * 2.
message = g.as_graph_def()
message.ClearField('versions')
print(message)
