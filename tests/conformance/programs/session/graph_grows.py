import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    a = tf.constant(1)
    print(sess.run(a))
    b = a + 1
    print(sess.run(b))
    c = tf.Graph()
    print(len(sess.graph.get_operations()), [op.name for op in sess.graph.get_operations()])
    print(sess.graph_def == sess.graph.as_graph_def())
