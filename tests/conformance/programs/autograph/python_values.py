import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
trace = []
@tf.function
def python(n, flag, items):
    out = []
    for i in range(n):
        if i == 1:
            continue
        if i > 3:
            break
        out.append(i)
    k = 0
    while k < n:
        k += 1
        if flag and k == 2:
            break
    text = 'yes' if flag else 'no'
    for name, value in items.items():
        if value is None:
            continue
        out.append(name)
    trace.append((out, k, text, not flag, flag or 'default', n and k))
    return tf.constant(len(out))
show('python', python, 6, True, {'a': 1, 'b': None}); show('python', python, 6, False, {'a': 1, 'b': None}); print(trace)
@tf.function
def objects(x, mode=None):
    if mode is None:
        return x
    elif mode == 'double':
        return x * 2
    elif isinstance(mode, float):
        return tf.cast(x, tf.float32) * mode
    raise ValueError(f'bad mode {mode!r}')
for mode in (None, 'double', .5, 'other'):
    show(mode, objects, tf.constant(3), mode)
@tf.function
def shapes(x):
    if x.shape[0] > 2:
        return tf.reduce_sum(x)
    if x.shape.rank == 1 and x.dtype == tf.float32:
        return x[0]
    return tf.constant(0.)
show('shape', shapes, tf.constant([1., 2., 3.])); show('shape', shapes, tf.constant([1., 2.]))
@tf.function
def unrolled(n):
    x = tf.constant(0)
    i = 0
    while i < n:
        x += i
        i += 1
    return x
print(len(tf.function(lambda: unrolled.python_function(3)).get_concrete_function().graph.get_operations()) > 3)
show('unrolled', unrolled, 4)
