import tensorflow as tf, numpy as np
import time

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    def slow(x):
        time.sleep(0.3)
        return x

    x = tf.constant(1.)
    for i in range(3):
        x = v1.py_func(slow, [x], tf.float32)
    with v1.Session(config=v1.ConfigProto(operation_timeout_in_ms=100)) as sess:
        attempt('timeout', lambda: sess.run(x))
        attempt('longer', lambda: sess.run(x, options=v1.RunOptions(timeout_in_ms=60000)))
