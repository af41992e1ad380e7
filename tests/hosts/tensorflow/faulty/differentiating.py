"""Gradients that are None, and backward steps that raise."""
import numpy as np
import tensorflow as tf

w = tf.Variable(3.0, name='weight')


def times(x):
    return x * w


def double(x):
    return x + x


@tf.function
def through_numpy(x):
    with tf.GradientTape() as tape:
        y = tf.numpy_function(double, [x * w], tf.float32)
        y.set_shape([])
    return tape.gradient(y, w)


@tf.function
def captured(x):
    with tf.GradientTape() as tape:
        y = tf.py_function(times, [x], tf.float32)
        y.set_shape([])
    return tape.gradient(y, w)


print(through_numpy(tf.constant(2.0)), captured(tf.constant(2.0)))
with tf.GradientTape() as tape:
    y = tf.numpy_function(np.sin, [w * 2.0], tf.float32)
print(tape.gradient(y, w))
with tf.GradientTape(persistent=True) as tape:
    y = tf.py_function(double, [w], tf.float32)
print(float(tape.gradient(y, w)))
try:
    tape.gradient(y, w)
except tf.errors.OpError as error:
    print(type(error).__name__)
