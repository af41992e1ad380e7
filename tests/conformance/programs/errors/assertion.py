import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    p = v1.placeholder(tf.int32, [], name='p')
    with tf.control_dependencies([v1.assert_equal(p, 3, message='must be 3')]):
        y = tf.identity(p)
    print(sess.run(y, {p: 3}))
    try:
        sess.run(y, {p: 4})
    except tf.errors.InvalidArgumentError as error:
        print('assertion failed' in str(error), 'must be 3' in str(error), error.op.type)
