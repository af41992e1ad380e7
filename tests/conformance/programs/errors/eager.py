import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


attempt('add', lambda: tf.constant([1., 2.]) + tf.constant([1., 2., 3.]))
attempt('less', lambda: tf.constant([1., 2.]) < tf.constant([1., 2., 3.]))
attempt('reshape', lambda: tf.reshape([1, 2], [3]))
attempt('gather', lambda: tf.gather([1, 2], 5))
attempt('numerics', lambda: tf.debugging.check_numerics([np.inf], 'm'))
try:
    tf.reshape([1, 2], [3])
except tf.errors.InvalidArgumentError as error:
    print(error.op, error.node_def, error.error_code, error.message == str(error), error.args, repr(error))
