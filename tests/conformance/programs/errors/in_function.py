import tensorflow as tf, numpy as np


@tf.function
def f(x):
    return tf.gather(x, [7], name='pick')


try:
    f(tf.constant([1., 2.]))
except tf.errors.InvalidArgumentError as error:
    print(error.op, error.node_def, error.error_code, str(error).split('\n')[0])
    print('Detected at node pick' in str(error), 'indices[0] = 7 is not in [0, 2)' in str(error))
