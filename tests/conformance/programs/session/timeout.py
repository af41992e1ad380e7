import tensorflow as tf, numpy as np
import time

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    def slow(x):
        time.sleep(0.3)
        return x

    x = tf.constant(1.)
    for i in range(4):
        x = v1.py_func(slow, [x], tf.float32)
    attempt('timeout', lambda: sess.run(x, options=v1.RunOptions(timeout_in_ms=100)))
    attempt('none', lambda: sess.run(x, options=v1.RunOptions(timeout_in_ms=0)))
    attempt('enough', lambda: sess.run(x, options=v1.RunOptions(timeout_in_ms=60000)))
