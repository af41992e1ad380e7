import tensorflow as tf, numpy as np
import threading

v1 = tf.compat.v1

with tf.Graph().as_default():
    v = v1.get_variable('v', initializer=1.)
    barrier = threading.Barrier(2, timeout=20)

    def meet(x):
        barrier.wait()
        return x + 1

    a, b = (v1.py_func(meet, [v], tf.float32) for i in range(2))
    with tf.control_dependencies([a, b]):
        write = v1.assign_add(v, 10.)
    with v1.Session(config=v1.ConfigProto(inter_op_parallelism_threads=2)) as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run([a, b, write]), sess.run(v))
