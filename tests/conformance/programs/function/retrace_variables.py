import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(v):
    print('trace')
    return v + 1.
a, b, c = tf.Variable(1.), tf.Variable(5.), tf.Variable([1.])
for v in (a, b, c, a): show('call', f, v)
print(count(f))
@tf.function
def g(v, w):
    print('trace two')
    v.assign_add(1.)
    return v + w
show('different', g, a, b); show('other', g, b, a); show('same', g, a, a)
print(count(g))
