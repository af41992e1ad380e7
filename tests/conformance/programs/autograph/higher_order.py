import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def sign(x):
    if x > 0:
        return 1
    return -1
@tf.function
def maps(xs):
    return tf.map_fn(sign, xs, fn_output_signature=tf.int32)
show('map_fn', maps, tf.constant([3, -4]))
@tf.function
def lambdas(xs):
    return tf.map_fn(lambda x: x if x > 0 else -x, xs)
show('lambda', lambdas, tf.constant([3, -4]))
@tf.function
def conds(x):
    def yes():
        y = x
        for _ in tf.range(3):
            y += 1
        return y
    return tf.cond(x > 0, yes, lambda: x if x < -5 else x * 100)
for v in (1, -1, -6):
    show(v, conds, tf.constant(v))
@tf.function
def whiles(n):
    def body(i, s):
        if i % 2 == 0:
            s += i
        return i + 1, s
    return tf.while_loop(lambda i, s: i < n and s < 100, body, [tf.constant(0), tf.constant(0)])
show('while_loop', whiles, tf.constant(7))
@tf.function
def folds(xs):
    return tf.foldl(lambda a, x: a + x if x > 0 else a, xs), tf.scan(lambda a, x: a if a > x else x, xs)
show('fold', folds, tf.constant([1, -2, 3]))
