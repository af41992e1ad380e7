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
    return x * 2
for v in (tf.constant(1), tf.constant(2), tf.constant(1.), tf.constant([1]), tf.constant([2]), tf.constant([1, 2]), np.int32(3), np.array([5, 6], np.int32)):
    show('call', f, v)
print(count(f))
