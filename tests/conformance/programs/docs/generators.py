import tensorflow as tf, numpy as np


def countdown(start, step):
    while start > 0:
        yield start
        start -= step


for arguments in ([9, 4], (6, 3)):
    numbers = tf.data.Dataset.from_generator(countdown, args=arguments, output_signature=tf.TensorSpec([], tf.int32))
    print(list(numbers.batch(2).as_numpy_iterator()))
try:
    tf.data.Dataset.from_generator(countdown, args=7, output_signature=tf.TensorSpec([], tf.int32))
except TypeError as error:
    print(type(error).__name__, error)
try:
    tf.random.uniform([3], dtype=tf.int64)
except ValueError as error:
    print(type(error).__name__, error)
