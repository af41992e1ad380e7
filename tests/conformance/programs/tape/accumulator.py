import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1., 2.])
with tf.autodiff.ForwardAccumulator(x, tf.constant([1., 0.])) as acc:
    y = x * x * 3.
    z = tf.constant(1.)
print(acc.jvp(y), acc.jvp(z), acc.jvp(z, unconnected_gradients='zero'))
v = tf.Variable([[1., 2.]])
with tf.autodiff.ForwardAccumulator(v, tf.constant([[1., 1.]])) as acc:
    with tf.GradientTape() as t:
        y = tf.reduce_sum(v ** 3)
    g = t.gradient(y, v)
print(acc.jvp(g))
with tf.autodiff.ForwardAccumulator([x, v], [tf.constant([1., 1.]), tf.constant([[0., 1.]])]) as acc:
    y = tf.reduce_sum(x * v)
print(acc.jvp(y))
@tf.function
def f(x): return tf.exp(x)
with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as acc:
    y = f(x)
print(acc.jvp(y))
show('dtype', lambda: tf.autodiff.ForwardAccumulator(tf.constant(1), tf.constant(1)))
show('shape', lambda: tf.autodiff.ForwardAccumulator(x, tf.constant(1.)))
