import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    p = v1.placeholder(tf.float32, [None, 2], name='p')
    i = v1.placeholder(tf.int32, [], name='i')
    s = v1.placeholder(tf.string, name='s')
    b = v1.placeholder(tf.bool, name='b')
    free = v1.placeholder(tf.float32, name='free')
    attempt('list', lambda: sess.run(p, {p: [[1, 2]]}))
    attempt('empty', lambda: sess.run(p, {p: np.zeros((0, 2))}).shape)
    attempt('float to int', lambda: sess.run(i + 0, {i: 1.5}))
    attempt('np.int64', lambda: sess.run(i + 0, {i: np.int64(7)}))
    attempt('bool to int', lambda: sess.run(i + 0, {i: True}))
    attempt('shape', lambda: sess.run(p, {p: [1, 2]}))
    attempt('shape 2', lambda: sess.run(p, {p: [[1, 2, 3]]}))
    attempt('rank', lambda: sess.run(i, {i: [1]}))
    attempt('name', lambda: sess.run(p, {'p:0': [[3, 4]]}))
    attempt('str to float', lambda: sess.run(free, {free: 'x'}))
    attempt('numeric str', lambda: sess.run(free, {free: '3'}))
    attempt('ragged', lambda: sess.run(free, {free: [[1, 2], [3]]}))
    attempt('None', lambda: sess.run(free, {free: None}))
    attempt('object', lambda: sess.run(free, {free: object()}))
    attempt('big', lambda: sess.run(i, {i: 2 ** 40}))
    attempt('tensor', lambda: sess.run(free, {free: tf.constant(1.)}))
    attempt('bool', lambda: sess.run(b, {b: 1}))
    attempt('kind', lambda: type(sess.run(i, {i: 3})))
