import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


g = tf.Graph()
with g.as_default():
    a = tf.constant(1)
one, two = v1.Session(graph=g), v1.Session(graph=g)
first, second = one.as_default(), two.as_default()
first.__enter__()
second.__enter__()
attempt('exit outer first', lambda: first.__exit__(None, None, None))
attempt('exit inner', lambda: bool(second.__exit__(None, None, None)))
print(v1.get_default_session())
