import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = tf.constant([1., 2.], name='a')
    i = tf.constant([1, 2, 3], name='i')
    attempt('shapes', lambda: a + tf.constant([1., 2., 3.]))
    attempt('dtypes', lambda: a + i)
    attempt('matmul', lambda: tf.matmul(a, a))
    attempt('reshape', lambda: tf.reshape(a, [3]))
    attempt('constant', lambda: tf.constant('a', tf.float32))
    attempt('constant shape', lambda: tf.constant([1, 2, 3], shape=[2]))
    attempt('placeholder', lambda: v1.placeholder('nope'))
    attempt('placeholder shape', lambda: v1.placeholder(tf.float32, ['x']))
    attempt('convert', lambda: tf.convert_to_tensor(object))
    attempt('None', lambda: tf.identity(None))
    attempt('ragged', lambda: tf.constant([[1], [2, 3]]))
    attempt('axis', lambda: tf.reduce_sum(a, 5))
    attempt('concat', lambda: tf.concat([a, i], 0))
    attempt('cast', lambda: tf.cast('a', tf.float32))
    print(len(g.get_operations()))
