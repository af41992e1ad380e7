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
    return tf.nest.flatten(x)[0]
t = tf.constant(1)
for v in ([t], (t,), [t, t], {'a': t}, {'b': t}, {'a': t, 'b': t}, {'b': t, 'a': t}, [t, 1], [t, 2], [[t]], [t]):
    f(v)
print(count(f))
