"""All that the other programs do wrong, done right."""
import numpy as np
import tensorflow as tf

w = tf.Variable(3.0)
unused = tf.Variable(1.0)


def load(name, n):
    name = name.decode()
    return np.full((int(n), 3), 2.0 if name == 'cat' else 1.0, np.float32)


def element(name, n):
    image = tf.numpy_function(load, [name, n], tf.float32, stateful=False)
    image.set_shape([None, 3])
    return image


def square(x, factor):
    return x * x * factor


def scaled(values):
    values = values.copy()
    values *= 2
    return values


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = tf.py_function(square, [x, w], tf.float32)
        y.set_shape(x.shape)
        loss = tf.reduce_sum(y)
    return loss, tape.gradient(loss, [w, unused])


@tf.function
def double(x):
    return tf.ensure_shape(tf.numpy_function(scaled, [x], tf.float32), [None]) + 1.0


def split(x):
    return x // 2, x % 2


@tf.function
def halves(x):
    parts = tf.py_function(split, [x], [tf.float32, tf.float32])
    for part in parts:
        part.set_shape([])
    return parts


def positive(n):
    if n < 1:
        raise ValueError(f'{n} is too small')
    return np.float32(n)


@tf.function
def checked(n):
    y = tf.numpy_function(positive, [n], tf.float32)
    y.set_shape([])
    return y


try:
    checked(tf.constant(-1))
except tf.errors.InvalidArgumentError as error:
    print(type(error).__name__)
names = ['cat', 'dog', 'cat']
dataset = tf.data.Dataset.from_tensor_slices((names, [1, 2, 3])).map(element, num_parallel_calls=2)
for _ in range(3):
    for image in dataset.padded_batch(3):
        print(image.numpy().sum())
for i in range(20):
    loss, gradients = step(tf.constant([1.0, float(i)]))
    double(tf.constant([float(i)]))
    tf.numpy_function(scaled, [np.array([1.0])], tf.float64)
    halves(tf.constant(float(i)))
print(float(loss), float(gradients[0]), gradients[1])
tf.py_function(split, [tf.constant(5.0)], [tf.float32, tf.float32])
