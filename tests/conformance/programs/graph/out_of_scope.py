import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


kept = []


@tf.function
def f(x):
    kept.append(x * 2)
    return x


f(tf.constant(1.))
attempt('use', lambda: kept[0] + 1.)
attempt('identity', lambda: tf.identity(kept[0]))


@tf.function
def g(x):
    return x + kept[0]


def first_class(function):
    try:
        function()
    except Exception as error:
        print(type(error).__name__, 'out of scope' in str(error) or 'cannot be accessed' in str(error))


first_class(lambda: g(tf.constant(1.)))
