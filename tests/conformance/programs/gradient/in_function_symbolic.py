import tensorflow as tf, numpy as np
@tf.function
def f(x):
    y = x * x
    g = tf.gradients(y, x)
    h = tf.gradients(g, x)
    return g, h
print(f(tf.constant([1., 2.])))
@tf.function
def unconnected(x):
    return tf.gradients(tf.constant(1.), x, unconnected_gradients='zero')
print(unconnected(tf.constant([1., 2.])))
