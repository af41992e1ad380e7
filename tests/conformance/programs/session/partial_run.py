import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    a = v1.placeholder(tf.float32, [], name='a')
    b = v1.placeholder(tf.float32, [], name='b')
    c = v1.placeholder(tf.float32, [], name='c')
    r1 = tf.add(a, b, name='r1')
    r2 = tf.multiply(r1, c, name='r2')
    h = sess.partial_run_setup([r1, r2], [a, b, c])
    print(type(h).__name__)
    res = sess.partial_run(h, r1, feed_dict={a: 1, b: 2})
    print(res, sess.partial_run(h, r2, feed_dict={c: res}))
    attempt('over', lambda: sess.partial_run(h, r2))
    h = sess.partial_run_setup([r1, r2], [a, b, c])
    attempt('feeds', lambda: sess.partial_run(h, r2, feed_dict={a: 1}))
    h = sess.partial_run_setup([r1, r2], [a, b, c])
    attempt('not asked', lambda: sess.partial_run(h, a + 1., feed_dict={a: 1}))
    attempt('nothing', lambda: sess.partial_run_setup([], []))
    attempt('none', lambda: type(sess.partial_run_setup([r1], None)))
    attempt('no handle', lambda: sess.partial_run('x', r1))
