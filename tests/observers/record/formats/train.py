"""A small training step with a function that prints, one that raises, a NaN, a warning and a gradient; small values kept."""
import os
import threading
import socket
import warnings

import numpy as np

import pyfuncdbg
from pyfuncdbg import tf


def normalize(x):
    print(f'mean {float(np.mean(x)):.1f}')
    return (x - x.mean()) / x.std()


def refuse(x):
    scale = np.float32(2)
    if x.sum() > 8:
        raise ValueError(f'too much: {float(x.sum() * scale)}')
    return x * scale


def squared(x):
    warnings.warn('squares grow')
    return x * x


def words(x):
    return np.array([b'one', b'two', bytes([0, 255])], object)


def count(x):
    x[0] = 7
    return np.int64(x.size)


socket.gethostname = lambda: 'example'  # the fixture names no machine
graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [3], name='x')
    hid = tf.nn.relu(x - 1.0, name='hid')
    norm = tf.numpy_function(normalize, [hid], tf.float32, name='norm')
    out = tf.compat.v1.py_func(refuse, [hid], tf.float32, name='refuse')
    size = tf.compat.v1.py_func(count, [x], tf.int64, name='count')
    text = tf.numpy_function(words, [x], tf.string, name='words')
    wide = tf.numpy_function(lambda x: np.arange(6000.0).reshape(60, 100) + x[0], [x], tf.float64, name='wide')

with pyfuncdbg.record('/srv/example/version-8.pfd', ops=True, full_limit=8) as recorder:
    with tf.compat.v1.Session(graph=graph) as sess:
        sess.run([norm, out, size, text], {x: [1.0, 2.0, 3.0]})
        sess.run([norm, wide], {x: [2.0, 2.0, 2.0]})
        try:
            sess.run(out, {x: [4.0, 4.0, 5.0]})
        except tf.errors.InvalidArgumentError:
            pass
    v = tf.constant([1.0, -2.0, 0.5])
    with tf.GradientTape() as tape:
        tape.watch(v)
        loss = tf.reduce_sum(tf.py_function(squared, [v], tf.float32))
    print(tape.gradient(loss, v))
    recorder.note('stop', {'why': 'a note', 'line': 3})
    if os.fork() == 0:
        tf.py_function(squared, [v * 2.0], tf.float32)
        recorder.stop()
        os._exit(0)
    os.wait()
# ruff: noqa: B028, F401, I001, SIM105 - its lines are in the trace
