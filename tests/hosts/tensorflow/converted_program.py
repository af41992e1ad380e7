"""Functions that TensorFlow converts: with loops and branches in them, lambdas beside each other and on several lines."""
import logging
import sys
import warnings

import numpy as np

if sys.argv[1:] == ['own']:
    from pyfuncdbg import tf
else:
    import tensorflow as tf


class Model:
    k = 2.0

    def aug(self, x):
        def inner(a):
            print('said', a[0] > 0)
            logging.warning('logged')
            b = a - self.k
            if b[0] > 0:
                b = np.sqrt(b)
            else:
                warnings.warn('small', stacklevel=1)
            for v in b[:1]:
                b = b + v
            return b

        def failing(a):
            for v in a:
                if v < 0:
                    raise ValueError(f'negative {v}')
            return a
        y = tf.numpy_function(inner, [x], tf.float32)
        z = tf.numpy_function(
            lambda a: np.sqrt(
                a - 2),
            [x], tf.float32)
        u, w = tf.numpy_function(lambda a: a + 1, [x], tf.float32), tf.numpy_function(lambda a: np.log(a), [x], tf.float32)
        if tf.reduce_sum(x) > 100:
            z = tf.numpy_function(lambda a: -a, [x], tf.float32)
        return tf.numpy_function(failing, [x], tf.float32) + y + z + u + w


values = []                                     # printed at the end: the functions print on another thread
try:
    for value in tf.data.Dataset.from_tensor_slices(np.float32([[1, 2], [3, -1]])).map(Model().aug):
        values.append(value.numpy())
except tf.errors.InvalidArgumentError as error:
    print('failed', 'negative -1.0' in str(error))
print(values)
