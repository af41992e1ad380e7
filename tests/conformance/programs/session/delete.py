import tensorflow as tf, numpy as np
import gc
import weakref

v1 = tf.compat.v1

with tf.Graph().as_default():
    a = tf.constant(5)
    sess = v1.Session()
    sess.run(a)
    ref = weakref.ref(sess)
    del sess
    gc.collect()
    print(ref() is None)
