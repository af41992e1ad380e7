import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g, v1.Session() as sess:
    c = tf.constant(1., name='c')
    d = tf.constant(2., name='d')
    g.prevent_feeding(c)
    g.prevent_fetching(d.op)
    print(g.is_feedable(c), g.is_feedable(d), g.is_fetchable(c), g.is_fetchable(d), g.is_fetchable(d.op))
    attempt('feed', lambda: sess.run(c, {c: 3.}))
    attempt('fetch', lambda: sess.run(d))
    attempt('fetch op', lambda: sess.run(d.op))
    attempt('fetch other', lambda: sess.run(c + d))
    attempt('by name', lambda: sess.run('d:0'))
    try:
        sess.run(d)
    except Exception as error:
        print(isinstance(error, ValueError), isinstance(error, tf.errors.OpError))
