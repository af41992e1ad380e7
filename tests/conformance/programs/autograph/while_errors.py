import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def dtype(x):
    y = 0
    while x > 0:
        y = 1.5
        x -= 1
    return y
show('dtype', dtype, tf.constant(2))
@tf.function
def shape(x):
    y = tf.constant([0])
    while x > 0:
        y = tf.concat([y, [1]], 0)
        x -= 1
    return y
show('shape', shape, tf.constant(2))
@tf.function
def none(x):
    y = None
    while x > 0:
        y = x
        x -= 1
    return y
show('none', none, tf.constant(2))
@tf.function
def becomes_none(x):
    y = x
    while x > 0:
        y = None
        x -= 1
    return y
show('becomes none', becomes_none, tf.constant(2))
@tf.function
def structure(x):
    y = x
    while x > 0:
        y = (x, x)
        x -= 1
    return y
show('structure', structure, tf.constant(2))
@tf.function
def changes(x):
    i = 0
    while i < 3:
        i = i + x
    return i
show('started python', changes, tf.constant(2))
@tf.function
def forever(x):
    while True:
        x = x + 1
        if x > 10:
            break
    return x
show('while true', forever, tf.constant(2))
@tf.function
def integer(x):
    while x:
        x = x - 1
    return x
show('int', integer, tf.constant(2))
