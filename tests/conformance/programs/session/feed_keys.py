import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    foreign = v1.placeholder(tf.float32, name='foreign')
with tf.Graph().as_default(), v1.Session() as sess:
    p = v1.placeholder(tf.float32, [], name='p')
    c = tf.constant(1., name='c')
    m = tf.add(p, c, name='m')
    attempt('constant', lambda: sess.run(m, {c: 10., p: 1.}))
    attempt('middle', lambda: sess.run(m * 2., {m: 3.}))
    attempt('fed and fetched', lambda: sess.run([m, m * 2.], {m: 3.}))
    attempt('foreign', lambda: sess.run(m, {foreign: 1., p: 1.}))
    attempt('name', lambda: sess.run(m, {'nope:0': 1., p: 1.}))
    attempt('op name', lambda: sess.run(m, {'p': 1.}))
    attempt('op', lambda: sess.run(m, {p.op: 1.}))
    attempt('int', lambda: sess.run(m, {3: 1.}))
    attempt('None', lambda: sess.run(m, {None: 1.}))
    attempt('list', lambda: sess.run(m, [1.]))
    attempt('tuple keys', lambda: sess.run(m, {(p, c): (1., 2.)}))
    attempt('tuple mismatch', lambda: sess.run(m, {(p, c): (1.,)}))
    attempt('twice', lambda: sess.run(m, {p: 1., 'p:0': 2.}))
    attempt('empty dict', lambda: sess.run(c, {}))
    attempt('None dict', lambda: sess.run(c, None))
