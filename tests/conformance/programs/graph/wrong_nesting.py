import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


g, h = tf.Graph(), tf.Graph()
first, second = g.as_default(), h.as_default()
first.__enter__()
second.__enter__()
attempt('outer first', lambda: first.__exit__(None, None, None))
