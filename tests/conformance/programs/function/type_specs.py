import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x):
    print('trace', x)
    return x
show('dtype', f, tf.float32) ; show('shape', f, tf.TensorShape([1, None])); show('none', f, None); show('class', f, int); show('ellipsis', f, ...); show('complex', f, 1j); show('frozenset', f, frozenset([1]))
