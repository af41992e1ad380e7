import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [2], name='x')
    with tf.name_scope('loss'):
        a = tf.py_function(lambda v: v + 1., [x], tf.float32, name='first')
        with tf.control_dependencies([a]):
            b = v1.py_func(lambda v: v * 2., [x], tf.float32, name='second')
        c, d = tf.numpy_function(lambda u, v: (u, v), [a, b], [tf.float32, tf.float32], name='third')
        total = tf.add(c, d, name='total')
    with tf.device('/job:worker/task:1'):
        tf.py_function(lambda: 1, [], tf.int64, name='pinned')
message = g.as_graph_def()
message.ClearField('versions')
print(message)
