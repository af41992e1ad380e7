import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def undefined(x):
    if x > 0:
        y = 1
    return y
show('undefined', undefined, tf.constant(1))
@tf.function
def undefined_else(x):
    if x > 0:
        pass
    else:
        y = 1
    return y
show('undefined main', undefined_else, tf.constant(1))
@tf.function
def dtypes(x):
    if x > 0:
        y = 1
    else:
        y = 2.5
    return y
show('dtypes', dtypes, tf.constant(1))
@tf.function
def structures(x):
    if x > 0:
        y = (x, x)
    else:
        y = x
    return y
show('structures', structures, tf.constant(1))
@tf.function
def nones(x):
    if x > 0:
        y = x
    else:
        y = None
    return y
show('none', nones, tf.constant(1))
@tf.function
def missing_return(x):
    if x > 0:
        return x
show('return', missing_return, tf.constant(1))
@tf.function
def missing_return_main(x):
    if x > 0:
        pass
    else:
        return x
show('return main', missing_return_main, tf.constant(1))
@tf.function
def integer(x):
    if x:
        return x
    return x
show('int', integer, tf.constant(1))
@tf.function
def vector(x):
    if x > 0:
        return x
    return x
show('vector', vector, tf.constant([1, 2]))
show('single', vector, tf.constant([1]))
