import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    v = v1.get_variable('v', initializer=3.)
    attempt('uninitialized', lambda: sess.run(v))
    sess.run(v1.global_variables_initializer())
    attempt('value', lambda: sess.run(v))
    attempt('other session', lambda: v1.Session().run(v))
    attempt('eval', lambda: v.eval())
    attempt('assign', lambda: sess.run(v.assign(4.)))
    attempt('assign_add', lambda: sess.run(v1.assign_add(v, 1.)))
    attempt('feed', lambda: sess.run(v + 1., {v: 10.}))
    attempt('load', lambda: v.load(7., sess))
    attempt('loaded', lambda: sess.run(v))
