import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def names(do_return, retval_, break_, continue_, itr):
    s = 0
    for i in tf.range(itr):
        if i == break_:
            break
        if i == continue_:
            continue
        s += i
    if s > retval_:
        return s + do_return
    return s
show('flags', names, tf.constant(1), tf.constant(2), tf.constant(8), tf.constant(3), tf.constant(10))
@tf.function
def reuse(x):
    for x in tf.range(x):
        y = x
    return x, y
show('target is parameter', reuse, tf.constant(3))
@tf.function
def deleted(x):
    y = x + 1
    if x > 0:
        z = y
        del y
    else:
        z = x
    return z
show('del', deleted, tf.constant(3))
@tf.function
def walrus(x):
    if (y := x * 2) > 5:
        return y
    return y + 100
show('walrus', walrus, tf.constant(3)); show('walrus', walrus, tf.constant(1))
@tf.function
def star(xs):
    a, *b = [xs[0], xs[1], xs[2]]
    if a > 0:
        c = b
    else:
        c = [a, a]
    return c
show('star', star, tf.constant([1, 2, 3]))
@tf.function
def matched(x, kind):
    match kind:
        case 'a':
            if x > 0:
                return x
            return -x
        case ['b', n]:
            return x * n
        case _:
            return tf.constant(0)
show('match', matched, tf.constant(-3), 'a'); show('match', matched, tf.constant(-3), ['b', 2]); show('match', matched, tf.constant(-3), None)
