"""Training of a small convolutional network on the digits, with one fault: `training.py nan|gradient|worker`."""
import multiprocessing
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

import pyfuncdbg

FAULT = sys.argv[1]
DIGITS = os.path.join(os.path.dirname(pyfuncdbg.__file__), 'demo', 'digits.csv.gz')
BATCH, STEPS = 32, 6
BATCHES = jax.ShapeDtypeStruct((BATCH, 8, 8, 1), np.float32), jax.ShapeDtypeStruct((BATCH,), np.int32)


def load_digits():
    table = np.loadtxt(DIGITS, delimiter=',', dtype=np.int32, max_rows=256)
    return table[:, :-1].reshape(-1, 8, 8, 1).astype('f') / 16, table[:, -1]


def load_batch(number):
    """In a process of its own."""
    images, labels = load_digits()
    rows = slice(number * BATCH % 256, number * BATCH % 256 + BATCH)
    if FAULT == 'worker' and number == 2:
        raise KeyError(f'batch {number} has a label {labels[rows].max() + 1}')
    return images[rows], labels[rows]


def next_batch(number):
    """Called by the compiled program."""
    return workers.apply(load_batch, (int(number),))


@jax.custom_vjp
def swish(x):
    return x * jax.nn.sigmoid(x)


def swish_forward(x):
    return swish(x), x


def swish_backward(x, g):
    s = jax.nn.sigmoid(x)
    if FAULT == 'gradient':
        return (g * s * (1 - s),)
    return (g * (s + x * s * (1 - s)),)


swish.defvjp(swish_forward, swish_backward)


def normalized(x):
    if FAULT != 'nan':
        return x / (1e-3 + jnp.abs(x).sum(-1, keepdims=True))
    return x / (1e-3 + jnp.sqrt((x ** 2).sum(-1, keepdims=True)))


def forward(weights, images):
    x = jax.lax.conv_general_dilated(images, weights['conv'], (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    x = normalized(swish(x))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
    return x.reshape(len(x), -1) @ weights['dense'] + weights['bias']


def loss(weights, images, labels):
    scores = jax.nn.log_softmax(forward(weights, images))
    return -scores[jnp.arange(len(labels)), labels].mean()


@jax.jit
def step(weights, number):
    images, labels = io_callback(next_batch, BATCHES, number)
    value, gradients = jax.value_and_grad(loss)(weights, images, labels)
    return jax.tree.map(lambda w, g: w - .5 * g, weights, gradients), value


def main():
    keys = jax.random.split(jax.random.key(0), 2)
    weights = {'conv': jax.random.normal(keys[0], (3, 3, 1, 8)) * .3, 'dense': jax.random.normal(keys[1], (128, 10)) * .1,
               'bias': jnp.zeros(10)}
    for number in range(STEPS):
        weights, value = step(weights, number)
        print(number, float(value))
    print('trained')


if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(1) as workers:
        main()
