"""A program of a user: Keras learns handwritten digits, with Python functions in the dataset, in a layer and in the loss.

It knows nothing of pyfuncdbg. `--planted N` makes image N blank; what came out is printed bit for bit.
"""
import hashlib
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

PLANTED = int(sys.argv[2]) if sys.argv[1:2] == ['--planted'] else -1
IMAGES = 256
DIGITS = Path(sys.argv[-1])


def normalize(pixels, number):
    mean = pixels.mean()
    spread = pixels.std()
    shifted = pixels - mean
    return shifted / spread


def squash(values):
    return tf.tanh(values)


def penalty(wanted, given):
    return tf.reduce_mean(tf.square(wanted - given), axis=-1)


class Squash(keras.layers.Layer):
    def call(self, inputs):
        found = tf.py_function(squash, [inputs], tf.float32, name='squash')
        found.set_shape(inputs.shape)
        return found


def loss(wanted, given):
    found = tf.py_function(penalty, [wanted, given], tf.float32, name='penalty')
    found.set_shape(given.shape[:1])
    return found


def element(pixels, number, wanted):
    image = tf.numpy_function(normalize, [pixels, number], tf.float32, name='normalize')
    image.set_shape([64])
    return image, wanted


def main():
    keras.utils.set_random_seed(7)
    table = np.loadtxt(DIGITS, delimiter=',', dtype=np.int32, max_rows=IMAGES)
    images, digits = table[:, :-1].astype(np.float32), np.eye(10, dtype=np.float32)[table[:, -1]]
    if PLANTED >= 0:
        images[PLANTED] = 3.0
    dataset = tf.data.Dataset.from_tensor_slices((images, np.arange(IMAGES), digits))
    dataset = dataset.map(element, num_parallel_calls=4).batch(64)
    model = keras.Sequential([keras.layers.Dense(32), Squash(), keras.layers.Dense(10)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss=loss, jit_compile=False)
    history = model.fit(dataset, epochs=2, verbose=0)
    weights = b''.join(weight.tobytes() for weight in model.get_weights())
    print('losses', [float(value).hex() for value in history.history['loss']])
    print('weights', hashlib.sha256(weights).hexdigest())


main()
