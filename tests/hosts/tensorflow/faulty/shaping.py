"""Shapes that get lost: in a dataset, in the middle of a function, and with several outputs."""
import numpy as np
import tensorflow as tf


def load(n):
    return np.ones((int(n), 3), np.float32)


def element(n):
    image = tf.numpy_function(load, [n], tf.float32)
    return image, n


def divide(x):
    return x // 2, x % 2


@tf.function
def halves(x):
    half, rest = tf.py_function(divide, [x], [tf.float32, tf.float32])
    return tf.exp(half) + rest


@tf.function
def direct(x):
    return tf.py_function(tf.sin, [x], tf.float32) * 2.0


for image, _ in tf.data.Dataset.from_tensor_slices([2, 3, 4]).map(element):
    print(image.shape)
print(halves(tf.constant([3.0, 4.0])).numpy(), direct(tf.constant([0.0])).numpy())
