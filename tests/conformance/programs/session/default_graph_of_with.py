import tensorflow as tf, numpy as np

v1 = tf.compat.v1

g, h = tf.Graph(), tf.Graph()
with g.as_default():
    with v1.Session(graph=h) as sess:
        print(v1.get_default_graph() is h)
        a = tf.constant(1)
        print(a.graph is h, sess.run(a))
    print(v1.get_default_graph() is g)
    with sess.as_default():
        print(v1.get_default_graph() is g)
