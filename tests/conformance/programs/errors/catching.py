import tensorflow as tf, numpy as np

v1 = tf.compat.v1

kinds = []
for kind in (tf.errors.OutOfRangeError, tf.errors.AbortedError):
    try:
        raise kind(None, None, 'm')
    except tf.errors.OpError as error:
        kinds.append(type(error) is kind)
print(kinds)
print(tf.errors.InvalidArgumentError.__module__.split('.')[-1] != '', v1.errors.OpError is tf.errors.OpError, v1.OpError is tf.errors.OpError)
print(tf.errors.OK, tf.errors.UNAUTHENTICATED, tf.errors.DATA_LOSS)
