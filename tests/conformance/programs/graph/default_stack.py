import tensorflow as tf, numpy as np

v1 = tf.compat.v1

g, h = tf.Graph(), tf.Graph()
print(tf.executing_eagerly())
with g.as_default() as yielded:
    print(yielded is g, v1.get_default_graph() is g, tf.executing_eagerly())
    with h.as_default():
        print(v1.get_default_graph() is h)
    print(v1.get_default_graph() is g)
print(tf.executing_eagerly(), v1.get_default_graph() is v1.get_default_graph())
print(type(g).__name__, g.version if hasattr(g, 'version') else None, g.building_function, g.finalized)
