"""A v1 training program for tests: a loss written as a Python function, which gives NaN at one step.

`python session_training.py [--plain] [--planted STEP] [--kind interactive|monitored]`
"""
from __future__ import annotations

import argparse
import contextlib

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()


def penalty(weights, scale):
    """The square root of the spread; at the planted step the scale makes it negative."""
    spread = weights.var() * scale
    rooted = np.sqrt(spread)
    return np.float32(rooted * 0.01)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('--plain', action='store_true')
    parser.add_argument('--planted', type=int, default=7)
    parser.add_argument('--kind', default='session')
    options = parser.parse_args()
    x = v1.placeholder(tf.float32, [None, 4], name='x')
    y = v1.placeholder(tf.float32, [None, 1], name='y')
    scale = v1.placeholder(tf.float32, [], name='scale')
    w1 = v1.get_variable('w1', [4, 8], initializer=v1.random_normal_initializer(0, .5, seed=1))
    w2 = v1.get_variable('w2', [8, 1], initializer=v1.random_normal_initializer(0, .5, seed=2))
    weights = w1.read_value()                   # read once: TensorFlow leaves open what a second read of this run would see
    hidden = tf.nn.tanh(tf.matmul(x, weights, name='mm'), name='hidden')
    guess = tf.matmul(hidden, w2, name='guess')
    fit = tf.reduce_mean(tf.square(guess - y), name='fit')
    price = v1.py_func(penalty, [weights, scale], tf.float32, name='price')
    loss = tf.add(fit, price, name='loss')
    train = v1.train.GradientDescentOptimizer(0.1).minimize(fit, name='train')
    v1.train.get_or_create_global_step()
    with contextlib.ExitStack() as block, np.errstate(all='ignore'):
        if options.kind == 'monitored':
            session = block.enter_context(v1.train.MonitoredSession())
        else:
            session = v1.InteractiveSession() if options.kind == 'interactive' else v1.Session()
            session.run(v1.global_variables_initializer())
            block.callback(lambda: session.close())
        if not options.plain:
            import pyfuncdbg
            session = pyfuncdbg.DebugSession(session)
        random = np.random.RandomState(0)
        for step in range(1, 11):
            data = random.rand(16, 4).astype('f')
            found, _ = session.run([loss, train], {x: data, y: data.sum(1, keepdims=True),
                                                   scale: -1 if step == options.planted else 1})
            print(step, float(found).hex(), flush=True)
        print(session.run(w2).sum().item().hex())


if __name__ == '__main__':
    main()
