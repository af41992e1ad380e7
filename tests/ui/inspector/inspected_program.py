"""Programs that tests of the inspector record."""
from __future__ import annotations

PROGRAM = '''
import numpy as np
import pyfuncdbg.tf as tf
tf1 = tf.compat.v1

def normalize(x, eps):
    mu = x.mean(-1, keepdims=True)
    sd = x.std(-1, keepdims=True)
    if sd.min() == 0:
        print('row', int(sd.argmin()), 'is [bold]constant[/]')
    return ((x - mu) / sd).astype(np.float32)

def pick(y):
    if np.isnan(y).any() and y[2, 0] < 0:
        raise ValueError('no maximum among NaN')
    return np.float32(np.nanmax(y))

graph = tf1.Graph()
with graph.as_default():
    x = tf1.placeholder(tf.float32, [3, 4], name='x')
    w = tf1.get_variable('w', initializer=np.diag([1., 2., 3., 4.]).astype(np.float32))
    hidden = tf.matmul(x, w, name='hidden')
    norm = tf.numpy_function(normalize, [hidden, np.float32(1e-6)], tf.float32, name='norm')
    best = tf.numpy_function(pick, [norm], tf.float32, name='best')
    loss = tf.reduce_sum(hidden * hidden, name='loss')
    gradients = tf1.gradients(loss, [w])
with tf1.Session(graph=graph) as session:
    session.run(w.initializer)
    for step in range(3):
        value = np.arange(12, dtype=np.float32).reshape(3, 4) + step
        if step == 2:
            value[1], value[2] = 0, [-4, 1, 1, 9]
        session.run([best, gradients], {x: value})
'''
