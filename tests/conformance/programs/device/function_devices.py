import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

@tf.function
def f(x):
    y = tf.py_function(lambda a: a, [x], tf.float32)
    z = tf.numpy_function(lambda a: a, [x], tf.float32)
    print(repr(y.op.device), repr(z.op.device))
    with tf.device('/cpu:0'):
        w = x + 1.
        q = tf.py_function(lambda a: a, [x], tf.float32)
        print(repr(w.op.device), repr(q.op.device))
        with tf.device(None):
            print(repr((x + 2.).op.device))
    return y + z + w


print(f(tf.constant(1.)))
with tf.device('/cpu:0'):
    print(f(tf.constant([1.])))


@tf.function
def g(x):
    with tf.device('/job:worker'):
        return x + 1.


def first(error):
    return type(error).__name__, [line for line in str(error).splitlines() if 'assign' in line][:1]


T('other job', lambda: g(tf.constant(1.)).numpy())
