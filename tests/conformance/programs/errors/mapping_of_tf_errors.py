import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    for kind in (tf.errors.NotFoundError, tf.errors.OutOfRangeError, tf.errors.CancelledError):
        def fail(kind=kind):
            raise kind(None, None, 'm')
        y = v1.py_func(fail, [], tf.float32)
        try:
            sess.run(y)
        except tf.errors.OpError as error:
            print(kind.__name__, type(error).__name__, [l for l in str(error).split('\n') if kind.__name__ + ':' in l][0])
