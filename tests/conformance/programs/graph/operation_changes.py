import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g, v1.Session() as sess:
    a = tf.constant(1., name='a')
    b = tf.constant(2., name='b')
    c = tf.add(a, a, name='c')
    print(sess.run(c))
with tf.Graph().as_default() as g:
    a = tf.constant(1., name='a')
    b = tf.constant(2., name='b')
    c = tf.add(a, a, name='c')
    c.op._update_input(1, b)
    print([t.name for t in c.op.inputs], [o.name for o in b.consumers()])
    with v1.Session() as sess:
        print(sess.run(c))
