import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    foreign = tf.constant(1, name='foreign')
    foreign_op = foreign.op
with tf.Graph().as_default(), v1.Session() as sess:
    a = tf.constant(1, name='a')
    for fetch in (None, 1, 1.5, [a, None], {'k': None}, 'nope', 'nope:0', 'a:1', 'a:x', 'a:', ':0', '', 'a:0:0', '^a', object, foreign,
                  foreign_op, (a, 3), b'nope:0', {1, 2}, np.array([1])):
        attempt(repr(fetch) if not isinstance(fetch, type) else 'type', lambda: sess.run(fetch))
