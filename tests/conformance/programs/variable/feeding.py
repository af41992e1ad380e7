import tensorflow as tf, numpy as np

v1 = tf.compat.v1


with tf.Graph().as_default():
    v = v1.get_variable('v', initializer=[1., 2.])
    doubled = v * 2.
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run(doubled, {v: [5., 6.]}) if False else 'skipped', sess.run(doubled))
        print(sess.run({'v': v, 'name': 'v:0'}) if False else sess.run({'v': v}))
        value = v.value()
        print(sess.run(value * 3., {value: [1., 1.]}))
        print(sess.run(v.initial_value), sess.run(v.initializer))
        sess.run(v.initializer, {v.initial_value: [7., 8.]})
        print(sess.run(v))
