import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    def fail(x):
        raise ValueError('boom')

    x = tf.constant(1., name='x')
    y = v1.py_func(fail, [x], tf.float32, name='y')
    z = tf.identity(y, name='z')
    try:
        sess.run(z)
    except tf.errors.InvalidArgumentError as error:
        print(error.op is y.op, error.op.name, error.node_def.name, error.error_code, error.experimental_payloads)
        print(error.message.split('\n')[0])
        print('boom' in error.message, "Detected at node 'y'" in error.message, '[[{{node y}}]]' in error.message)
        print(error.message == str(error), 'Original stack trace' in str(error))
