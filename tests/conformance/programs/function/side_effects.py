import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
log = []
@tf.function
def f(x):
    log.append('python')
    tf.print('tensor', x)
    return x
f(tf.constant(1)); f(tf.constant(2)); f(tf.constant(3.)); print(log)
v = tf.Variable(1)
@tf.function
def order():
    a = v.read_value()
    v.assign(5)
    b = v.read_value()
    v.assign_add(a)
    v.assign(v * 2)
    return a, b, v.read_value()
show('order', order); print(v.numpy())
@tf.function
def unused(x):
    tf.py_function(lambda a: log.append(int(a)), [x], [])
    tf.py_function(lambda a: log.append(int(a) * 10), [x], [])
    return x
del log[:]
unused(tf.constant(7)); print(log)
@tf.function
def nothing():
    v.assign_add(1)
show('nothing', nothing); print(v.numpy())
