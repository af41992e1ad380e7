import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    a = tf.constant(1, name='a')
    sess = v1.Session()
    call = sess.make_callable(a)
    print(call())
    sess.close()
    attempt('call', call)
