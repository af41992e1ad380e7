import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def total(xs):
    s = tf.zeros([], xs.dtype)
    for x in xs:
        s += x
    return s
show('vector', total, tf.constant([1., 2., 3.])); show('ints', total, tf.constant([1, 2, 3]))
@tf.function
def rows(m):
    best = tf.constant(0.)
    for row in m:
        for x in row:
            if x > best:
                best = x
    return best
show('rows', rows, tf.constant([[1., 5.], [3., 2.]]))
@tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
def unknown(xs):
    n = 0
    for x in xs:
        n += x
    return n
show('unknown length', unknown, tf.constant([4, 5])); show('empty', unknown, tf.constant([], tf.int32))
@tf.function
def strings(xs):
    s = ''
    for x in xs:
        s = s + x
    return s
show('strings', strings, tf.constant(['a', 'b']))
@tf.function
def scalar(x):
    for i in x:
        pass
    return x
show('scalar', scalar, tf.constant(3))
@tf.function
def pairs(m):
    s = 0
    for a, b in [(m, m + 1), (m + 2, m + 3)]:
        s += a * b
    return s
show('pairs', pairs, tf.constant(2))
