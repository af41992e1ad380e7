import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default():
    a = tf.constant(5)
    sess = v1.Session()
    with sess.as_default():
        with sess.as_default():
            print(a.eval())
        print(a.eval())
    print(sess.run(a))
