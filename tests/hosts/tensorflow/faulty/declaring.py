"""What Tout declares and nothing checks: TensorSpecs of another shape, and eager calls of numpy_function."""
import numpy as np
import tensorflow as tf


def three(x):
    return np.ones(3, np.float32)


def whole(x):
    return np.int64(x)


print(tf.py_function(three, [tf.constant(1.0)], tf.TensorSpec([2], tf.float32)).shape)
print(tf.function(lambda x: tf.py_function(three, [x], tf.TensorSpec([4], tf.float32)))(tf.constant(1.0)).shape)
print(tf.numpy_function(whole, [tf.constant(1.0)], tf.float32).dtype.name)
print(tf.numpy_function(lambda x: 0.5, [tf.constant(1.0)], tf.float32).dtype.name)
print(tf.py_function(three, [tf.constant(1.0)], tf.TensorSpec([None], tf.float32)).shape)
