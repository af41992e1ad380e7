import tensorflow as tf, numpy as np

with tf.Graph().as_default() as g:
    with tf.device('/cpu:0'):
        inner = g.device('/job:x')
        with inner:
            a = tf.constant(1, name='a')
        b = tf.constant(1, name='b')
    c = tf.constant(1, name='c')
    print([t.device for t in (a, b, c)])
    with g.device('/job:worker/replica:0/task:0/device:CPU:0'):
        print(tf.constant(1).device)
    with tf.device('CPU'):
        print(tf.constant(1).device)
    with tf.device('/device:CPU:0'):
        print(tf.constant(1).device)
