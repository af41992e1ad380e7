import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(a, b=2, *args, c, d=4, **kw):
    return a + b + c + d + sum(args) + sum(kw.values())
show('all', f, 1, 2, 3, c=4, d=5, e=6); show('defaults', f, tf.constant(1), c=1)
show('missing', f); show('missing c', f, 1); show('twice', f, 1, c=1, a=2)
@tf.function
def g(x, /, y):
    return x + y
show('positional', g, 1, y=2); show('positional by name', g, x=1, y=2)
@tf.function
def none():
    return 1
show('none', none); show('extra', none, 1); show('keyword', none, a=1)
show('not hashable', tf.function(lambda x, s: x), tf.constant(1), {1, 2})
show('bytearray', tf.function(lambda x, s: x), tf.constant(1), bytearray(b'a'))
show('generator', tf.function(lambda x, s: x), tf.constant(1), (i for i in range(2)))
