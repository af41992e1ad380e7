import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g, v1.Session() as sess:
    order = []
    a = v1.py_func(lambda: order.append('a') or 1., [], tf.float64, name='a')
    with tf.control_dependencies([a]):
        b = v1.py_func(lambda: order.append('b') or 1., [], tf.float64, name='b')
    with tf.control_dependencies([b]):
        c = tf.identity(a)
    sess.run(c)
    print(order, [o.name for o in c.op.control_inputs])
