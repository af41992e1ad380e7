import tensorflow as tf, numpy as np
calls = []
@tf.recompute_grad
def f(x):
    calls.append(1)
    return tf.sin(x) * x
x = tf.constant(2.)
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
print(y, len(calls))
print(t.gradient(y, x), len(calls))
v = tf.Variable(3.)
@tf.recompute_grad
def g(x): return x * v
with tf.GradientTape() as t:
    t.watch(x)
    y = g(x)
print(t.gradient(y, [x, v]))
@tf.function
def h(x): return f(x) + g(x)
with tf.GradientTape() as t:
    t.watch(x)
    y = h(x)
print(t.gradient(y, [x, v]))
