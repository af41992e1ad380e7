import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    a = v1.placeholder(tf.float32, [], name='a')
    y = v1.py_func(lambda x: x, [a], tf.float64, name='y')
    try:
        sess.run(y, {a: 1.})
    except tf.errors.InvalidArgumentError as error:
        print(error.op.name, 'is float, but expects double' in str(error))
    print(sess.run(a + 1., {a: 2.}))
