import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function(reduce_retracing=True)
def f(x):
    print('trace', x.shape)
    return tf.reduce_sum(x)
for n in (1, 2, 3, 4): show(n, f, tf.ones([n]))
print(count(f))
for n in (1, 2): show(n, f, tf.ones([n, 2]))
print(count(f))
@tf.function(experimental_relax_shapes=True)
def g(x):
    return x
for n in (1, 2, 3): g(tf.ones([n]))
print(count(g))
