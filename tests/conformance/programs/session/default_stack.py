import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    a = tf.constant(1)
    one, two = v1.Session(), v1.Session()
    print(v1.get_default_session())
    with one.as_default():
        print(v1.get_default_session() is one)
        with two.as_default() as yielded:
            print(yielded is two, v1.get_default_session() is two)
        print(v1.get_default_session() is one)
    print(v1.get_default_session(), one.run(a))
    with one.as_default():
        pass
    print(one.run(a))
    with one:
        print(v1.get_default_session() is one, a.eval())
    attempt('closed', lambda: one.run(a))
