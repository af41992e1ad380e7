import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
@tf.custom_gradient
def f(a, b):
    def grad(da, db): return da * 10., db * 100.
    return (a + b, a * b), grad
a, b = tf.constant(2.), tf.constant(3.)
y, z = f(a, b)
s = v1.Session()
print(s.run([y, z]), s.run(tf.gradients(y, [a, b])), s.run(tf.gradients([y, z], [a, b])))
@tf.custom_gradient
def wrong(a, b):
    return a + b, lambda d: d
y = wrong(a, b)
show('count', lambda: tf.gradients(y, [a, b]))
@tf.custom_gradient
def none(a, b):
    return a + b, lambda d: (d, None)
print(tf.gradients(none(a, b), [b]), s.run(tf.gradients(none(a, b), a)))
