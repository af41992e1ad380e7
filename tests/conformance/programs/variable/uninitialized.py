import tensorflow as tf, numpy as np

v1 = tf.compat.v1


with tf.Graph().as_default():
    v = v1.get_variable('v', [2])
    with v1.Session() as sess:
        for what in (v, v + 1., v1.assign_add(v, [1., 1.]), v1.scatter_add(v, [0], [1.])):
            try:
                sess.run(what)
            except Exception as error:
                print(type(error).__name__, error.error_code)
        print(sess.run(v1.is_variable_initialized(v)), sess.run(v.is_initialized()))
        sess.run(v1.assign(v, [1., 2.]))
        print(sess.run(v1.is_variable_initialized(v)), sess.run(v))
        print(sess.run(v1.assign_add(v, [1., 1.])))
