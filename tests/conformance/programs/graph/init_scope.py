import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    with tf.name_scope('s'), tf.control_dependencies([tf.constant(1, name='dep')]):
        with tf.init_scope():
            c = tf.constant(2, name='c')
            print(c.name, c.op.control_inputs, v1.get_default_graph() is g)


@tf.function
def f():
    with tf.init_scope():
        print(tf.executing_eagerly(), tf.constant(1))
    return 1


f()
