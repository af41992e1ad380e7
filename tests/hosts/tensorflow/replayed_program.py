"""A TensorFlow program whose every Python call is replayed: eager and in graphs, with state of its own."""
from contextlib import suppress

import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
SCALE = 2.0
RNG = np.random.default_rng(5)


def scaled(x):
    return x * SCALE + np.random.rand()


def normal(x):
    return x + RNG.random()


def unit(x):
    return x / tf.norm(x)


class Layer:
    def __init__(self):
        self.weights = np.ones(3, np.float32)
        self.count = 0

    def call(self, x):
        self.count += 1
        return x * self.weights * self.count


print('training')
layer = Layer()
data = tf.data.Dataset.range(3).map(
    lambda x: tf.numpy_function(lambda a: np.float64(a) + np.random.rand(), [x], tf.float64))
for _ in data:
    pass


@tf.function
def step(x):
    return tf.py_function(unit, [x], tf.float32) + tf.numpy_function(layer.call, [x], tf.float32)


for number in range(3):
    SCALE += 1
    step(tf.constant([1.0, 2.0, float(number)]))
    tf.numpy_function(scaled, [1.0], tf.float64)
    tf.numpy_function(normal, [1.0], tf.float64)
    tf.py_function(lambda x: x + tf.random.normal([]), [1.0], tf.float32)
    tf.py_function(lambda x, k=number: x * tf.cast(k, tf.float32), [np.ones(3, np.float32)], tf.float32)
    tf.py_function(lambda t: tf.strings.join([t, b'x']), [tf.constant('a')], tf.string)
    with tf.GradientTape() as tape:
        x = tf.constant([1.0, 2.0])
        tape.watch(x)
        y = tf.py_function(lambda a: tf.reduce_sum(a * a), [x], tf.float32)
    tape.gradient(y, x)
with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None])
    y = tf.compat.v1.py_func(lambda a: np.log(a) * np.float32(number), [x], tf.float32)
    with tf.compat.v1.Session() as session, np.errstate(divide='ignore'):
        session.run(y, {x: [1.0, 0.0, 2.0]})
        with suppress(tf.errors.UnknownError):
            session.run(tf.compat.v1.py_func(lambda a: 1 / int(a), [x[0]], tf.float64), {x: [0.0]})
