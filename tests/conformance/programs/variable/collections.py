import tensorflow as tf, numpy as np

v1 = tf.compat.v1


with tf.Graph().as_default():
    a = v1.Variable(1., name='a')
    b = v1.Variable(2., name='b', trainable=False)
    c = v1.Variable(3., name='c', collections=[v1.GraphKeys.LOCAL_VARIABLES])
    d = v1.Variable(4., name='d', collections=[v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.MODEL_VARIABLES])
    for what in (v1.global_variables, v1.trainable_variables, v1.local_variables, v1.model_variables, v1.all_variables):
        print([v.name for v in what()])
    with v1.variable_scope('s'):
        v1.get_variable('e', [1])
    print([v.name for v in v1.global_variables('s')], [v.name for v in v1.trainable_variables('s/')])
    print([v.name for v in v1.get_collection(v1.GraphKeys.GLOBAL_VARIABLES, scope='s')])
    with v1.Session() as sess:
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        print(sess.run([a, b, c, d]))
        print(sess.run(v1.report_uninitialized_variables([a])).tolist())
    with v1.Session() as sess:
        print(sorted(sess.run(v1.report_uninitialized_variables()).tolist()))
print(v1.global_variables_initializer() is None or True)
