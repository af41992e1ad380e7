import tensorflow as tf, numpy as np

v1 = tf.compat.v1

g = tf.Graph()
sess = v1.InteractiveSession(graph=g)
a = tf.constant(3)
print(a.graph is g, a.eval())
sess.close()
print(v1.get_default_graph() is g)
