import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x):
    return tf.gather(x, 5)
def first(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, type(e).__name__, '|', str(e).splitlines()[0])
first('reshape', tf.function(lambda x, s: tf.reshape(x, s)), tf.ones([3]), tf.constant([2]))
first('assert', tf.function(lambda x: tf.debugging.assert_equal(x, 2)), tf.constant(1))
first('py', tf.function(lambda x: tf.py_function(lambda a: 1 / 0, [x], tf.float32)), tf.constant(1.))
first('check', tf.function(lambda x: tf.debugging.check_numerics(x, 'bad')), tf.constant(float('nan')))
first('gather', f, tf.ones([3]))
