import tensorflow as tf, numpy as np
import threading
import time

v1 = tf.compat.v1

with tf.Graph().as_default():
    started = threading.Event()
    done = []

    def slow(x):
        started.set()
        time.sleep(0.2)
        done.append('slow')
        return x

    def fail(x):
        started.wait(20)
        raise ValueError('boom')

    a = v1.py_func(slow, [tf.constant(1.)], tf.float32, name='slow')
    b = v1.py_func(fail, [tf.constant(2.)], tf.float32, name='fail')
    after = v1.py_func(lambda x: done.append('after') or x, [a], tf.float32, name='after')
    with v1.Session(config=v1.ConfigProto(inter_op_parallelism_threads=2)) as sess:
        try:
            sess.run([after, b])
        except tf.errors.InvalidArgumentError as error:
            print(error.op.name, 'boom' in str(error), done[0])
        print(sess.run(a))
