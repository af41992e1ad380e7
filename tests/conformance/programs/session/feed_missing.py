import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    p = v1.placeholder(tf.float32, [None, 2], name='p')
    q = v1.placeholder(tf.int64, name='q')
    r = v1.placeholder(tf.bool, [], name='r')
    d = v1.placeholder_with_default(4., [], name='d')

    def first(f):
        try:
            return f()
        except tf.errors.InvalidArgumentError as error:
            return [line for line in str(error).split('\n') if 'You must feed' in line][0], error.op.name, error.op.type
    print(first(lambda: sess.run(p)))
    print(first(lambda: sess.run(q + 1)))
    print(first(lambda: sess.run(r)))
    print(sess.run(d), sess.run(d, {d: 5.}))
    print(first(lambda: sess.run(p * 2)))
