"""A model with a py_function is saved; its function stays behind."""
import sys

import tensorflow as tf


def square(x):
    return x * x


class Model(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def serve(self, x):
        y = tf.py_function(square, [x], tf.float32)
        y.set_shape([])
        return y


tf.saved_model.save(Model(), sys.argv[1])
print('saved')
sys.exit(7)
