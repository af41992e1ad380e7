import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


@tf.function
def f(x):
    attempt('bool', lambda: bool(x))
    attempt('numpy', lambda: x.numpy())
    attempt('eval', lambda: x.eval())
    print(x.graph is v1.get_default_graph(), x.op.type, tf.executing_eagerly())
    return x


f(tf.constant([1., 2.]))
