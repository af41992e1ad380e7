import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
@tf.custom_gradient
def f(x, scale=1.):
    return x * scale, lambda d: d * scale * 10.
x = tf.constant(1.)
show('kwargs in a graph', lambda: f(x, scale=2.))
show('positional', lambda: v1.Session().run(tf.gradients(f(x, 2.), x)))
