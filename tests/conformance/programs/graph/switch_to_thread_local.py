import tensorflow as tf, numpy as np
import threading

g = tf.Graph()
result = []


def build():
    with g.as_default():
        with tf.name_scope('t'):
            result.append(tf.constant(1, name='x').name)


with g.as_default(), tf.name_scope('main'):
    t = threading.Thread(target=build)
    t.start()
    t.join()
    result.append(tf.constant(1, name='x').name)
print(sorted(result))
