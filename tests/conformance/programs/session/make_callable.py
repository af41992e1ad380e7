import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    p = v1.placeholder(tf.float32, [], name='p')
    q = v1.placeholder(tf.float32, [2], name='q')
    f = sess.make_callable(p * 2., [p])
    print(f(3.), type(f(3.)))
    g = sess.make_callable([p * q, {'q': q}], [p, q])
    print(g(2., [1., 2.]))
    h = sess.make_callable(tf.constant(4))
    print(h())
    o = sess.make_callable(tf.no_op())
    print(o())
    named = sess.make_callable('p:0', ['p:0'])
    print(named(1.))
    attempt('few', lambda: f())
    attempt('many', lambda: f(1., 2.))
    attempt('shape', lambda: g(1., [1., 2., 3.]))
    attempt('list', lambda: sess.make_callable(p, p))
    attempt('fetch', lambda: sess.make_callable('nope:0'))
    attempt('feed', lambda: callable(sess.make_callable(p, ['nope:0'])))
    attempt('None', lambda: sess.make_callable(None))
