import tensorflow as tf, numpy as np
import threading

v1 = tf.compat.v1

with tf.Graph().as_default():
    barrier = threading.Barrier(2, timeout=20)

    def meet(x):
        barrier.wait()
        return x

    a = v1.py_func(meet, [tf.constant(1.)], tf.float32)
    b = v1.py_func(meet, [tf.constant(2.)], tf.float32)
    with v1.Session(config=v1.ConfigProto(inter_op_parallelism_threads=2)) as sess:
        print(sess.run([a, b]))
