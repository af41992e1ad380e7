import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
v = tf.Variable(0)
@tf.function
def f(x):
    with tf.control_dependencies([v.assign_add(x)]):
        y = tf.identity(v)
    v.assign_add(100)
    return y
show('f', f, tf.constant(1)); print(v.numpy())
@tf.function
def g():
    a = v.assign(1)
    b = v.assign(2)
    return a, b, v
show('g', g)
@tf.function
def two(x):
    w.assign(x)
    v.assign(w * 2)
    return w.assign_add(1), v.value()
w = tf.Variable(0)
show('two', two, tf.constant(4)); print(v.numpy(), w.numpy())
@tf.function
def dead(x):
    v.assign(77)
    return x
dead(tf.constant(1)); print(v.numpy())
