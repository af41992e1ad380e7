import tensorflow as tf, numpy as np
import threading

v1 = tf.compat.v1

g = tf.Graph()
with g.as_default(), v1.Session() as sess:
    a = tf.constant(1)
    seen = []

    def look():
        seen.append(v1.get_default_session() is None)
        seen.append(v1.get_default_graph() is g)
        seen.append(tf.executing_eagerly())

    t = threading.Thread(target=look)
    t.start()
    t.join()
    print(seen)
