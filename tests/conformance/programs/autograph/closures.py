import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
limit = 5
def make(n):
    k = n
    def inner(x):
        nonlocal k
        if x > limit:
            y = x + n
        else:
            y = x - n
        k = k + 1
        return y
    return inner, lambda: k
f, k = make(10)
g = tf.function(f)
show('big', g, tf.constant(6)); show('small', g, tf.constant(1)); print(k())
limit = 0
show('global at tracing', g, tf.constant(1)); show('global at tracing', g, tf.constant([1])[0])
@tf.function
def defines(x):
    scale = tf.constant(2)
    def scaled(v):
        if v > 0:
            return v * scale
        return v
    out = scaled(x)
    scale = tf.constant(3)
    return out, scaled(x)
show('late binding', defines, tf.constant(4))
@tf.function
def comprehension(x):
    ys = [x + i if i % 2 else x - i for i in range(4)]
    d = {i: v for i, v in enumerate(ys)}
    return ys, d[3], sum(v for v in ys)
show('comprehension', comprehension, tf.constant(10))
count = 0
@tf.function
def global_write(x):
    global count
    count += 1
    if x > 0:
        return x
    return -x
show('global', global_write, tf.constant(-10)); print(count)
