import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def total(n):
    s = 0
    for i in tf.range(n):
        s += i
    return s
show('sum', total, tf.constant(5))
@tf.function
def down(n):
    out = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(n, 0, -2):
        out = out.write(out.size(), i)
    return out.stack()
show('down', down, tf.constant(7))
@tf.function
def step(a, b, d):
    s = 0
    for i in tf.range(a, b, d):
        s = s * 10 + i
    return s
show('up', step, tf.constant(1), tf.constant(6), tf.constant(2))
show('down', step, tf.constant(6), tf.constant(1), tf.constant(-2))
@tf.function
def python_range(n):
    s = 0
    for i in range(n):
        s += i
    for i in range(1, n):
        s += i
    for i in range(0, n, 2):
        s += i
    return s
show('range(tensor)', python_range, tf.constant(5)); show('range(int)', python_range, 5); show('negative', python_range, tf.constant(-5))
@tf.function
def floats(n):
    s = 0.
    for x in tf.range(0., n, 0.5):
        s += x
    return s
show('floats', floats, tf.constant(2.))
@tf.function
def after(n):
    for i in tf.range(n):
        pass
    return i
show('after', after, tf.constant(3))
