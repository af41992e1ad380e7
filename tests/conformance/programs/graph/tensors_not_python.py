import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    a = v1.placeholder(tf.float32, [2], name='a')
    u = v1.placeholder(tf.float32, name='u')
    attempt('bool', lambda: bool(a))
    attempt('len', lambda: len(a))
    attempt('iter', lambda: list(a))
    attempt('iter unknown', lambda: list(u))
    attempt('in', lambda: a in [u])
    attempt('array', lambda: np.array(a))
    attempt('float', lambda: float(a))
    attempt('int', lambda: int(a))
    attempt('range', lambda: range(a))
    attempt('numpy', lambda: a.numpy())
    attempt('attr', lambda: a.nope)
    attempt('index', lambda: [1, 2][a])
    attempt('set_shape', lambda: a.set_shape([3]))
    attempt('set_shape ok', lambda: u.set_shape([None, 2]))
    print(u.shape, a == a, a == u, a != u, hash(a) == hash(a), {a: 1}[a])
    attempt('item', lambda: a.__setitem__(0, 1))
    attempt('if', lambda: 1 if a else 2)
    attempt('shape', lambda: a.shape + [1])
