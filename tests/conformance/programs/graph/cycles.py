import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    a = tf.constant(1., name='a')
    b = tf.identity(a, name='b')
    c = tf.identity(b, name='c')
    c.op._add_control_input(b.op)
    print(sess.run(c))
    d = tf.identity(a, name='d')
    e = tf.identity(d, name='e')
    d.op._update_input(0, e)
    try:
        sess.run(e)
    except tf.errors.InvalidArgumentError as error:
        print([line for line in str(error).split('\n') if 'cycle' in line][0].split(', including')[0], error.op)
