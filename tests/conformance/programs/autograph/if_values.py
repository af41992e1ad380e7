import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0
for v in (5, -5, 0):
    show(v, sign, tf.constant(v))
show('python', sign, 3)
@tf.function
def changed(x):
    y = tf.constant(1.)
    z = 2
    if x > 0:
        y = y * 2.
        z = 3
    return y, z
show('changed', changed, tf.constant(1))
show('unchanged', changed, tf.constant(-1))
@tf.function
def only_body(x):
    if x > 0:
        x = -x
    return x
show('only', only_body, tf.constant(7))
@tf.function
def nested(x, y):
    if x > 0:
        if y > 0:
            r = 'both'
        else:
            r = 'x'
    else:
        if y > 0:
            r = 'y'
        else:
            r = 'none'
    return r
for a in (1, -1):
    for b in (1, -1):
        show((a, b), nested, tf.constant(a), tf.constant(b))
