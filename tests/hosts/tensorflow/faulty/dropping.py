"""A dataset that ignores errors: elements are gone and nobody hears why."""
import numpy as np
import tensorflow as tf


def parse(n):
    if n % 3 == 0:
        raise ValueError(f'{n} is broken')
    return np.float32(n)


def element(n):
    y = tf.numpy_function(parse, [n], tf.float32)
    y.set_shape([])
    return y


dataset = tf.data.Dataset.range(10).map(element).ignore_errors()
print(len(list(dataset)))
