import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def first_over(xs, limit):
    found = -1
    for x in xs:
        if x > limit:
            found = x
            break
    return found
show('found', first_over, tf.constant([1, 5, 9]), tf.constant(4)); show('not', first_over, tf.constant([1]), tf.constant(4))
@tf.function
def odd(n):
    s = 0
    for i in tf.range(n):
        if i % 2 == 0:
            continue
        s += i
    return s
show('continue', odd, tf.constant(10))
@tf.function
def both(n):
    i = 0
    s = 0
    while i < n:
        i += 1
        if i == 3:
            continue
        if i > 6:
            break
        s += i
    return i, s
show('both', both, tf.constant(20)); show('python', both, 20)
@tf.function
def outer(n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(n):
            if j > i:
                break
            s += 1
        if i == 3:
            break
    return s
show('nested', outer, tf.constant(10))
@tf.function
def python_loop(xs):
    s = 0
    for x in xs:
        if x > 2:
            break
        s += x
    return s
show('python values', python_loop, [1, 2, 3]); show('tensors in a list', python_loop, [tf.constant(1), tf.constant(5)])
@tf.function
def unconditional(n):
    s = 0
    for i in tf.range(n):
        s += i
        break
    return s
show('unconditional', unconditional, tf.constant(5))
