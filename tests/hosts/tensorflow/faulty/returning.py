"""What is returned is not what Tout declares."""
import numpy as np
import tensorflow as tf


def third(x):
    return np.float64(x) / 3


def big(x):
    return np.asarray(x) * 1000.7


def pair(x):
    return x, x + 1


def nothing(x):
    x * 2


@tf.function
def called(op, function, x, dtype):
    y = op(function, [x], dtype)
    y.set_shape(x.shape)
    return y


x = tf.constant([1.0, 2.0])
print(called(tf.py_function, third, tf.constant(1.0), tf.float32).numpy())
print(called(tf.py_function, big, x, tf.int32).numpy())
print(called(tf.py_function, pair, x, tf.float32).numpy())
for function in (third, pair, nothing):
    try:
        called(tf.numpy_function, function, tf.constant(1.0), tf.float32)
    except (tf.errors.OpError, tf.errors.InternalError) as error:
        print(type(error).__name__)
