import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    with v1.variable_scope('layer'):
        w = v1.get_variable('w', [2], initializer=v1.ones_initializer(), use_resource=True)
        with v1.variable_scope('inner'):
            b = v1.get_variable('b', [], initializer=v1.constant_initializer(3.), use_resource=True)
        y = w + b
message = g.as_graph_def()
message.ClearField('versions')
print(message)
