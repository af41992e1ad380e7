import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def grow(n):
    v = tf.constant([0])
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.concat([v, [i]], 0)
    return v
show('grow', grow, tf.constant(3))
@tf.function
def wrong(n):
    v = tf.constant([0])
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([3]))])
        v = tf.concat([v, [i]], 0)
    return v
show('wrong', wrong, tf.constant(3))
@tf.function
def rank(n):
    v = tf.constant([0])
    while n > 0:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))])
        v = tf.expand_dims(v, 0)
        n -= 1
    return v
show('rank', rank, tf.constant(3))
@tf.function
def maximum(n):
    s = 0
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        s += 1
    return s
show('maximum', maximum, tf.constant(10))
@tf.function
def python(n):
    s = 0
    for i in range(n):
        tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        s += 1
    return s
show('python', python, 10)
