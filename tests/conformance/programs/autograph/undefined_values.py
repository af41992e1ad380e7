import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def maybe(x, flag):
    if flag:
        y = x
    return y
show('python true', maybe, tf.constant(1), True)
@tf.function
def local_only(x):
    if x > 0:
        t = x * 2
        r = t + 1
    else:
        u = x * 3
        r = u - 1
    return r
show('locals', local_only, tf.constant(1)); show('locals', local_only, tf.constant(-1))
@tf.function
def loop_local(n):
    r = 0
    for i in tf.range(n):
        if i > 1:
            t = i
        else:
            t = -i
        r += t
    return r
show('loop local', loop_local, tf.constant(5))
@tf.function
def unused(x):
    if x > 0:
        y = x
    return x
show('unused', unused, tf.constant(5))
@tf.function
def defined_later(x):
    if x > 0:
        y = x
    y = 3
    return y
show('later', defined_later, tf.constant(5))
@tf.function
def both_loops(n):
    for i in tf.range(n):
        a = i
    for i in tf.range(n):
        a = i * 2
    return a
show('two loops', both_loops, tf.constant(3))
