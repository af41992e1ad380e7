import tensorflow as tf, numpy as np
import time

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    x = tf.constant(1.)
    for i in range(3):
        x = v1.py_func(lambda v: time.sleep(0.2) or v, [x], tf.float32)
    try:
        sess.run(x, options=v1.RunOptions(timeout_in_ms=50))
    except tf.errors.DeadlineExceededError as error:
        print(error.error_code, error.op, error.node_def, error.message.split('\n'))
    print(sess.run(x))
