import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    v1.set_random_seed(1)
    a = v1.random_uniform([3])
    first = sess.run(a)
    second = sess.run(a)
    with v1.Session() as other:
        print(np.array_equal(other.run(a), first), np.array_equal(first, second), np.array_equal(other.run(a), second))
