"""A program that trains as soon as it runs: functions of every kind that a replay must find again."""
import random
import sys
from contextlib import suppress
from functools import partial, wraps

import numpy as np

from pyfuncdbg import tf

SCALE = 2.0
RNG = np.random.default_rng(5)
OFFSETS = [1.0, 2.0]
print('the training begins', file=sys.stderr)


def helper(x):
    return x * SCALE


def draws(x):
    return helper(x) + np.random.rand() + random.gauss(0, 1)


def own_generator(x):
    return x + RNG.standard_normal()


class Layer:
    def __init__(self, size):
        self.weights = np.arange(size, dtype=np.float64)
        self.calls = 0
        self.log = sys.stderr                   # a trace cannot hold it

    def __call__(self, x):
        self.calls += 1
        return x * self.weights * self.calls

    def method(self, x):
        return self.halved(x) + self.calls

    def halved(self, x):
        return x / OFFSETS[-1]


def doubled(function):
    factor = 2

    @wraps(function)
    def wrapper(*args):
        return factor * function(*args)
    return wrapper


@doubled
def decorated(x):
    return x + 1


def refuses(x):
    if x > 1:
        raise ValueError(f'too large: {x}')
    return x


def warns(x):
    return np.log(x)


def needs(x):
    return x + len(model.layers) + model.file.fileno()


def text(x):
    return x + b'\x00tail\x00'


class Model:
    def __init__(self):
        self.layers = [1, 2, 3]
        self.file = open('/dev/null')           # noqa: SIM115


model = Model()
layer = Layer(3)


def recursive(depth):
    def down(x):
        return x if x <= 0 else down(x - 1) + depth
    return down


def call(function, *inputs, dtype=tf.float64):
    with suppress(Exception):
        tf.numpy_function(function, list(inputs), dtype)


for step in range(3):
    SCALE += 1
    OFFSETS.append(float(step))
    call(draws, 1.0)
    call(own_generator, 1.0)
    call(lambda x, k=step: x + k, 1.0)
    call(layer, np.ones(3))
    call(layer.method, np.ones(3))
    call(partial(np.power, 2.0), float(step))
    call(decorated, float(step))
    call(refuses, float(step))
    call(recursive(step), 3.0)
    call(np.sqrt, 4.0)
    tf.py_function(lambda x: x + tf.random.normal([], seed=3), [1.0], tf.float32)
    tf.py_function(lambda x: x * tf.cast(step, tf.float32), [np.ones(3, np.float32)], tf.float32)       # noqa: B023
    tf.py_function(lambda x: tf.strings.join([x, x]), [b'a\x00'], tf.string)
    with np.errstate(divide='ignore'):
        call(warns, np.array([1.0, 0.0]))
call(text, tf.constant(b'a'), dtype=tf.string)
call(needs, 1.0)
graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None], name='x')
    y = tf.compat.v1.py_func(lambda a: np.log(a) * np.float32(step), [x], tf.float32, name='log')
    z = tf.py_function(lambda a: tf.square(a), [y], tf.float32, name='squared')
    with tf.compat.v1.Session() as session:
        session.run(z, {x: [1.0, 0.0, -1.0]})
