import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
@tf.custom_gradient
def f(x, *, scale):
    return x * scale, lambda d: d * scale * 10.
x = tf.constant(1.)
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x, scale=3.)
print(y, t.gradient(y, x))
@tf.function
def g(x):
    return f(x, scale=2.)
show('in a function', lambda: g(x))
