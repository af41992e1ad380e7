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
    return x * 2
with tf.Graph().as_default() as g:
    p = tf.compat.v1.placeholder(tf.int32, [])
    y = f(p)
    print(type(y).__name__, [o.type for o in g.get_operations()])
    with tf.compat.v1.Session() as s:
        print(s.run(y, {p: 4}))
v = None
with tf.Graph().as_default():
    c = tf.constant(5)
    @tf.function
    def h(x):
        return x + c
    z = h(tf.constant(1))
    with tf.compat.v1.Session() as s:
        print(s.run(z))
print(f(tf.constant(3)))
show('outside', h, tf.constant(1))
