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
    print('trace', type(x).__name__, x.dtype.name, x.shape)
    return x
for v in (np.float32(1), np.float64(1), np.ones(2), np.ones(2, np.float32), np.array('a'), np.array([True]), np.int8(1)):
    r = f(v); print(r.dtype.name, r.shape)
print(count(f))
@tf.function
def g(x):
    return x
show('bool_', g, np.bool_(True)); show('object', g, np.array([object()]))
a = np.zeros(2); r = g(a); a[0] = 5; print(r.numpy())
