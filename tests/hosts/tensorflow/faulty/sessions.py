"""`tf.gradients` of ref variables, None behind a `py_func` whose call spans lines."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def pair(a, b):
    return np.tanh(a), a


with tf.Graph().as_default(), tf1.Session() as session:
    u = tf1.get_variable('u', [3], use_resource=False)
    v = tf1.get_variable('v', [3], use_resource=False)
    with tf1.variable_scope('s'):
        y, z = tf1.py_func(
            pair, [u, 1],  # two of them
            [tf.float32] * 2,
            stateful=False,
            name='tanh')
    y.set_shape([3])
    gradients = tf1.gradients(tf.reduce_sum(y * v), [u, v])
    session.run(tf1.global_variables_initializer())
    print(gradients[0], session.run(gradients[1]).shape)
