"""A program of the real TensorFlow: functions with known properties, in eager code, a function, a Session and datasets."""
import time

import numpy as np
import tensorflow as tf

SCALE, STATE = 3.0, {'calls': 0}


def pure(x):
    return x * np.float32(SCALE)


def pure_ops(x):
    return tf.reduce_sum(tf.square(x))


def alias(x):
    return x[:1]


def draws(x):
    return x + np.random.rand(*x.shape).astype(np.float32)


def draws_ops(x):
    return x + tf.random.normal([])


def counts(x):
    STATE['calls'] += 1
    return x + np.float32(STATE['calls'])


def prints(x):
    print('mean', x.mean())
    return x


def of_time(x):
    return x + np.float32(time.time() % 1000)


def writes_input(x):
    x += 1
    return x * 2


def of_element(x):
    return x * 2


def augments(x):
    return x + np.float32(np.random.rand())


tf.random.set_seed(3)
with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None], name='x')
    *nodes, writing = [tf.numpy_function(function, [x], tf.float32, name=function.__name__)
                       for function in (pure, alias, draws, counts, prints, of_time, writes_input)]
    with tf.compat.v1.Session() as session:
        for step in range(3):
            session.run(nodes, {x: np.arange(4, dtype=np.float32) + step})
            # In a run of its own: nodes of one run share the memory of a feed, and run at once.
            session.run(writing, {x: np.arange(4, dtype=np.float32) + step})
for step in range(3):
    tf.py_function(pure_ops, [tf.range(3.0) + step], tf.float32)
    tf.py_function(draws_ops, [tf.constant(1.0 * step)], tf.float32)
for function in (of_element, augments):
    elements = tf.data.Dataset.from_tensor_slices(np.arange(4, dtype=np.float32))
    list(elements.map(lambda x, f=function: tf.numpy_function(f, [x], tf.float32)))
