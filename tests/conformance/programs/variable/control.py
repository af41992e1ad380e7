import tensorflow as tf, numpy as np

v1 = tf.compat.v1


with tf.Graph().as_default():
    v = v1.get_variable('v', initializer=1.)
    add = v1.assign_add(v, 1.)
    with tf.control_dependencies([add]):
        after = v.read_value()
        identity = tf.identity(v)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run(after), sess.run(identity), sess.run(v))
    branch = tf.cond(v > 2., lambda: v1.assign(v, 10.), lambda: v1.assign(v, -10.))
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run(branch), sess.run(v))
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1 + 0 * tf.cast(v.assign_add(1.), tf.int32), [0])
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run(loop), sess.run(v))
