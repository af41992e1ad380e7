"""A program with sessions, a traced function and eager calls, whose runs are debugged: what terminal tests run.

Its standard output is the same with and without; `plain` as argument leaves the debugger out.
"""
from __future__ import annotations

import sys

import numpy as np

import pyfuncdbg
from pyfuncdbg import tf

v1 = tf.compat.v1


def double(x):
    y = x * 2
    if y[0] > 100:
        raise ValueError('too big')
    return y


@tf.function
def traced(x):
    return tf.numpy_function(double, [x], tf.float32) + 1.0


with tf.Graph().as_default() as graph:
    a = v1.placeholder(tf.float32, [2], name='a')
    b = tf.numpy_function(double, [a], tf.float32, name='b')
    c = tf.add(b, 1.0, name='c')
    d = tf.math.log(c, name='d')
session, step = v1.Session(graph=graph), traced
if sys.argv[1:] != ['plain']:
    session, step = pyfuncdbg.DebugSession(session), pyfuncdbg.debug(traced)
for value in (1, 2, -4, 60):
    try:
        print(value, session.run(d, {a: [value, value + 1]}).tolist())
    except tf.errors.InvalidArgumentError as error:
        print('caught', type(error.__cause__).__name__, error.op.name)
print('traced', step(tf.constant([1.0, 2.0])).numpy().tolist())
print('eager', tf.numpy_function(double, [np.ones(2)], tf.float64).numpy().tolist())
