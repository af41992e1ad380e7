"""Elements of datasets: a shape lost in a function that the map calls, one that is not true, several functions in a line."""
import numpy as np
import tensorflow as tf

log = []


@tf.function
def head(x):
    return tf.numpy_function(lambda a: a[:int(a[0]) + 1], [x], tf.float32)


def load(i):
    log.append(int(i))
    return np.zeros([48 if i != 5 else 40, 48, 3], np.uint8)


def image(i):
    x = tf.numpy_function(load, [i], tf.uint8)
    x.set_shape([48, 48, 3])
    return x


def shift(x, mode):
    return x + 1 if str(mode) == 'train' else x


def shifted(i):
    y = tf.numpy_function(shift, [i, 'train'], tf.int64)
    y.set_shape([])
    return y


def note(x):
    log.append(float(x))


@tf.function
def noted(x):
    tf.numpy_function(note, [x], [])


@tf.function
def doubled(x):
    kind = tf.float32
    return tf.numpy_function(lambda x: x, [x], kind), tf.numpy_function(lambda x: np.float64(x), [x], kind)


print([tuple(x.shape) for x in tf.data.Dataset.from_tensor_slices(np.float32([[2, 1, 1], [1, 1, 1]])).map(head)])
print([int(y) for y in tf.data.Dataset.range(3).map(shifted)])
noted(tf.constant(1.0))
for call in (lambda: list(tf.data.Dataset.range(7).map(image)), lambda: doubled(tf.constant(1.0))):
    try:
        call()
    except tf.errors.OpError as error:
        print(type(error).__name__)
