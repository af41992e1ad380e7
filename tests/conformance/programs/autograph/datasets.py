import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
ds = tf.data.Dataset.range(6)
@tf.function
def total(d):
    s = tf.constant(0, tf.int64)
    for x in d:
        s += x
    return s
show('dataset', total, ds)
@tf.function
def limited(d):
    s = tf.constant(0, tf.int64)
    for x in d:
        if x > 3:
            break
        if x % 2 == 0:
            continue
        s += x
    return s
show('break', limited, ds)
@tf.function
def pairs(d):
    s = tf.constant(0.)
    n = 0
    for a, b in d:
        s += tf.cast(a, tf.float32) * b
        n += 1
    return s, n
show('pairs', pairs, tf.data.Dataset.from_tensor_slices(([1, 2], [3., 4.])))
@tf.function
def enumerated(d):
    s = tf.constant(0, tf.int64)
    for i, x in enumerate(d):
        s += i * x
    return s
show('enumerate', enumerated, ds)
def mapped(x):
    if x % 2 == 0:
        return x * 10
    else:
        return -x
print([int(v) for v in ds.map(mapped)])
print([int(v) for v in ds.filter(lambda x: x > 1 and x < 5)])
