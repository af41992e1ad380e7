import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def guard(x):
    if x < 0:
        return tf.constant(0.)
    y = tf.sqrt(x)
    if y > 2.:
        return y * 10.
    return y
for v in (-1., 1., 9.):
    show(v, guard, tf.constant(v))
@tf.function
def in_loop(xs):
    for x in xs:
        if x > 2:
            return x
    return -1
show('in loop', in_loop, tf.constant([1, 3]))
@tf.function
def in_while(x):
    while x < 10:
        x += 1
        if x == 5:
            return x * 100
    return x
show('in while', in_while, tf.constant(1))
@tf.function
def tuples(x):
    if x > 0:
        return x, 'p'
    return -x, 'n'
show('tuple', tuples, tf.constant(-4))
@tf.function
def dicts(x):
    if x > 0:
        return {'a': x, 'b': [x, x]}
    else:
        return {'a': -x, 'b': [x, -x]}
show('dict', dicts, tf.constant(-4))
@tf.function
def differ(x):
    if x > 0:
        return x
    return x, x
show('differ', differ, tf.constant(-4))
@tf.function
def nothing(x):
    if x > 0:
        tf.print('positive')
        return
    tf.print('not')
show('nothing', nothing, tf.constant(-4))
@tf.function
def deep(x, y):
    if x > 0:
        if y > 0:
            return x + y
        y = y * 2
    else:
        y = y * 3
    return y
for a, b in ((1, 1), (1, -1), (-1, 1)):
    show((a, b), deep, tf.constant(a), tf.constant(b))
