import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    tf.constant(1)
    for d in sess.list_devices():
        if d.device_type == 'CPU':
            print(d.name, d.device_type, d.memory_limit_bytes > 0)
            print(repr(d).split(',')[0])
