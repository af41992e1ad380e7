"""Functions that wait: one at a time in a map, and one after the other in a function."""
import time

import numpy as np
import tensorflow as tf


def fetch(n):
    time.sleep(0.02)
    return np.float32(n)


def element(n):
    y = tf.numpy_function(fetch, [n], tf.float32)
    y.set_shape([])
    return y


def left(x):
    time.sleep(0.05)
    return x


def right(x):
    time.sleep(0.05)
    return x


@tf.function
def both(x):
    a = tf.numpy_function(left, [x], tf.float32)
    b = tf.numpy_function(right, [x], tf.float32)
    a.set_shape([])
    b.set_shape([])
    return a + b


dataset = tf.data.Dataset.range(20)
dataset = dataset.map(element)
print(sum(float(y) for y in dataset))
print(sum(float(both(tf.constant(float(i)))) for i in range(5)))
