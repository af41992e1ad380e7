import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def handled(x):
    try:
        if x > 0:
            raise KeyError('k')
        return x
    except KeyError:
        return x * 2
    finally:
        print('finally')
show('handled', handled, tf.constant(5))
@tf.function
def scoped(x):
    with tf.name_scope('a'):
        if x > 0:
            y = x * 2
        else:
            y = x * 3
    with tf.control_dependencies([y]):
        return y + 1
show('with', scoped, tf.constant(5)); show('with', scoped, tf.constant(-5))
@tf.function
def returns_in_with(x):
    with tf.name_scope('b'):
        if x > 0:
            return x
        return -x
show('return', returns_in_with, tf.constant(-5))
@tf.function
def taped(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(3):
            y = y * x
        if y > 0:
            y = y * 2.
    return tape.gradient(y, x)
show('tape', taped, tf.constant(2.)); show('tape', taped, tf.constant(-2.))
@tf.function
def python_try(x, flag):
    try:
        if flag:
            return x + 1
        value = [][0]
    except IndexError as e:
        print(type(e).__name__)
        value = 7
    return x + value
show('flag', python_try, tf.constant(1), True); show('no flag', python_try, tf.constant(1), False)
