import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    calls = []

    def fail(x):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError('once')
        return x

    y = v1.py_func(fail, [tf.constant(1.)], tf.float32, name='y')
    attempt('first', lambda: sess.run(y))
    attempt('second', lambda: sess.run(y))
