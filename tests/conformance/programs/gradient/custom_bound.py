import tensorflow as tf, numpy as np
@tf.custom_gradient
def f(x):
    return x, lambda d: d * 2.
def plain(x):
    return x * x, lambda d: d * 5.
x = tf.constant(3.)
g = tf.custom_gradient(plain)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y, z = f(x), g(x)
print(t.gradient(y, x), t.gradient(z, x), t.gradient([y, z], x))
print(f.__name__, g.__name__)
class C:
    @tf.custom_gradient
    def m(self, x): return x, lambda d: (None, d * 9.)
    @staticmethod
    @tf.custom_gradient
    def s(x): return x, lambda d: d * 8.
with tf.GradientTape() as t:
    t.watch(x)
    y = C.s(x)
print(t.gradient(y, x))
