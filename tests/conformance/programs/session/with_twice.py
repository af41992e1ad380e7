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
sess = v1.Session(graph=g)


def nested():
    with sess:
        with sess:
            pass


attempt('nested', nested)


def sequence():
    with sess:
        print(v1.get_default_graph() is g)
    with sess:
        return sess.run(a)


attempt('sequence', sequence)
