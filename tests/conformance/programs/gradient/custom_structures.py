import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
@tf.custom_gradient
def f(pair):
    def grad(d): return {'a': d * 2., 'b': d * 3.}
    return pair['a'] + pair['b'], grad
p = {'a': tf.constant(1.), 'b': tf.constant(2.)}
with tf.GradientTape() as t:
    t.watch(p)
    y = f(p)
show('dict', lambda: t.gradient(y, p))
@tf.custom_gradient
def g(x):
    return {'out': x * 2.}, lambda *d: d[0] * 4.
x = tf.constant(1.)
with tf.GradientTape() as t:
    t.watch(x)
    y = g(x)
print(y, t.gradient(y, x))
