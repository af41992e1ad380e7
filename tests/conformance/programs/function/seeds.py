import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
tf.random.set_seed(1)
@tf.function
def f():
    return tf.random.uniform([2]), tf.random.uniform([2])
a, b = f(); c, d = f()
print(bool(tf.reduce_all(a == b)), bool(tf.reduce_all(a == c)))
tf.random.set_seed(1)
e, g = f()
@tf.function
def seeded():
    return tf.random.uniform([], seed=3)
print(float(seeded()) != float(seeded()))
