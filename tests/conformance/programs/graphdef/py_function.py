import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [2], name='x')
    y = tf.py_function(lambda a: a * 2., [x], tf.float32, name='twice')
    a, b = tf.py_function(lambda a: (a, 1), [y], [tf.float32, tf.int32])
    n = tf.py_function(lambda: None, [], [])
message = g.as_graph_def()
message.ClearField('versions')
print(message)
