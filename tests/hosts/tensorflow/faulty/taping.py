"""Calls under a tape that nobody asks for a gradient."""
import tensorflow as tf
from tensorflow.python.ops import script_ops

w = tf.Variable(tf.ones([1000]))


def square(x):
    return x * x


for step in range(12):
    with tf.GradientTape() as tape:
        y = tf.py_function(func=square, inp=[w * step], Tout=tf.float32)
print(len(script_ops.tape_cache))
