import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    a = v1.get_variable('a', [1])
    b = v1.get_variable('b', [1], trainable=False)
    c = v1.get_variable('c', [1], collections=['mine', v1.GraphKeys.LOCAL_VARIABLES])
    with v1.variable_scope('s'):
        d = v1.get_variable('d', [1])
    print([v.name for v in v1.global_variables()], [v.name for v in v1.trainable_variables()], [v.name for v in v1.local_variables()])
    print([v.name for v in v1.global_variables('s')], [v.name for v in v1.trainable_variables(scope='a')], v1.get_collection('mine') == [c])
    print([v.name for v in v1.model_variables()], [v.name for v in v1.moving_average_variables()])
    print(v1.global_variables_initializer().name, v1.local_variables_initializer().name)
