import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    a = v1.py_func(lambda: 1., [], tf.float64)
    attempt('negative', lambda: sess.run(a, options=v1.RunOptions(timeout_in_ms=-5)))
    attempt('pool', lambda: sess.run(a, options=v1.RunOptions(inter_op_thread_pool=7)))
    attempt('caller', lambda: sess.run(a, options=v1.RunOptions(inter_op_thread_pool=-1)))
    attempt('dict', lambda: sess.run(a, options={}))
