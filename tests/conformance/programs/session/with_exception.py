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
try:
    with v1.Session(graph=g) as sess:
        raise KeyError('mine')
except KeyError as error:
    print(error, v1.get_default_session(), v1.get_default_graph() is g)
attempt('run', lambda: sess.run(a))
