import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
v = tf.Variable(1.)
@tf.function
def condition(x):
    if v > 0:
        return x + v
    return x - v
show('variable', condition, tf.constant(1.)); v.assign(-1.); show('variable', condition, tf.constant(1.))
@tf.function
def state(x):
    w = v
    if x > 0:
        w = w + 1.
    return w
show('read', state, tf.constant(1)); show('read', state, tf.constant(-1))
@tf.function
def loops(n):
    while v < n:
        v.assign_add(2.)
    return v
show('loop', loops, tf.constant(5.)); print(v.numpy())
made = None
@tf.function
def makes(x):
    global made
    if made is None:
        made = tf.Variable(10)
    if x > 0:
        made.assign_add(x)
    return made.read_value()
show('made', makes, tf.constant(1)); show('made', makes, tf.constant(-1))
@tf.function
def flag(b):
    if b:
        return 'yes'
    return 'no'
show('bool variable', flag, tf.Variable(True))
