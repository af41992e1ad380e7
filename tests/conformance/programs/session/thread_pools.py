import tensorflow as tf, numpy as np
import threading

v1 = tf.compat.v1

with tf.Graph().as_default():
    config = v1.ConfigProto()
    config.session_inter_op_thread_pool.add(num_threads=2)
    config.session_inter_op_thread_pool.add(num_threads=1)
    barrier = threading.Barrier(2, timeout=20)

    def meet(x):
        barrier.wait()
        return x

    a, b = (v1.py_func(meet, [tf.constant(i)], tf.float32) for i in (1., 2.))
    c, d = (v1.py_func(lambda x: x, [tf.constant(i)], tf.float32) for i in (1., 2.))
    with v1.Session(config=config) as sess:
        print(sess.run([a, b]))
        print(sess.run([c, d], options=v1.RunOptions(inter_op_thread_pool=1)))
