"""Eager calls of a py_function in a loop, each with an array of its own in the closure."""
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import script_ops


def weigher(step):
    weights = np.full(1000, step, np.float64)

    def weigh(x):
        return tf.reduce_sum(x * weights)
    return weigh


before = script_ops._py_funcs.size()
for step in range(25):
    y = tf.py_function(weigher(step), [tf.constant(1.0, tf.float64)], tf.float64)
print(script_ops._py_funcs.size() - before)
