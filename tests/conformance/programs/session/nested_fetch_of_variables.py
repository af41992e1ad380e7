import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    v = v1.get_variable('v', initializer=[1., 2.])
    sess.run(v.initializer)
    print(sess.run({'v': v, 'list': [v, v.op, v.initializer]}))
    print(sess.run(v, {v: [5., 6.]}))
    attempt('shape', lambda: sess.run(v + 1., {v: [5.]}))
