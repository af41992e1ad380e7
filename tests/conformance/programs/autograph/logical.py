import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def both(x, y):
    return x > 0 and y > 0
@tf.function
def either(x, y):
    return x > 0 or y > 0
@tf.function
def neither(x, y):
    return not (x > 0 or y > 0)
for a in (1, -1):
    for b in (1, -1):
        show((a, b), lambda: (both(tf.constant(a), tf.constant(b)).numpy(), either(tf.constant(a), tf.constant(b)).numpy(), neither(tf.constant(a), tf.constant(b)).numpy()))
show('python', both, 1, -1); show('mixed', both, tf.constant(1), -1); show('mixed', both, 1, tf.constant(-1))
@tf.function
def between(x):
    return 0 < x < 10 <= x + 8
for v in (1, 5, 20):
    show(v, between, tf.constant(v))
show('python chain', between, 5)
@tf.function
def values(x):
    return [] or x, 0 and x, None or 'a', not [], not 1
show('values', values, tf.constant(2))
@tf.function
def three(x):
    if x > 0 and x < 10 and not x == 5:
        return 'yes'
    return 'no'
for v in (1, 5, 10):
    show(v, three, tf.constant(v))
@tf.function
def lazy(x):
    return x is None or x > 0
show('lazy', lazy, None); show('lazy', lazy, tf.constant(1))
