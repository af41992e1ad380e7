import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
k = tf.constant(2.)
@tf.function
def f(x):
    return x * k
show('first', f, tf.constant(3.)); k = tf.constant(10.); show('captured', f, tf.constant(3.)); show('retraced', f, tf.constant([3.]))
n = 2
@tf.function
def g(x):
    return x * n
show('python', g, tf.constant(3)); n = 5; show('python kept', g, tf.constant(3))
leak = []
@tf.function
def h(x):
    leak.append(x + 1)
    return x
h(tf.constant(1)); show('leaked', lambda: leak[0] + 1)
@tf.function
def inner(y):
    return leak[0] + y
show('leaked into another', inner, tf.constant(1))
