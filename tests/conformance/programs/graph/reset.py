import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


before = v1.get_default_graph()
v1.reset_default_graph()
print(v1.get_default_graph() is before)
with tf.Graph().as_default():
    attempt('nested', v1.reset_default_graph)


@tf.function
def f():
    v1.reset_default_graph()
    return 1


attempt('in function', f)
