import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    show('made', lambda: v1.get_variable('a', [2]))
    show('again', lambda: v1.get_variable('a', [2]))
    show('initializer', lambda: v1.get_variable('b', initializer=tf.constant([1., 2.])))
    show('both', lambda: v1.get_variable('c', [2], initializer=tf.constant([1., 2.])))
    show('no shape', lambda: v1.get_variable('d'))
    show('dtype', lambda: v1.get_variable('e', [], tf.int32).dtype)
    show('int value', lambda: v1.get_variable('f', initializer=3).dtype)
    show('partial', lambda: v1.get_variable('g', [None]))
    show('function', lambda: v1.get_variable('h', [2], initializer=lambda shape, dtype, partition_info=None: tf.ones(shape, dtype)))
    show('class', lambda: v1.get_variable('i', [2], initializer=v1.zeros_initializer))
    show('trainable', lambda: v1.get_variable('j', [2], trainable=False).trainable)
    show('collections', lambda: v1.get_variable('k', [2], collections=['mine']) in v1.get_collection('mine'))
    show('local', lambda: v1.get_local_variable('l', [2]) in v1.local_variables())
    show('names', lambda: [v.name for v in v1.global_variables()])
    show('trainables', lambda: [v.name for v in v1.trainable_variables()])
    with v1.variable_scope('', reuse=True):
        show('other shape', lambda: v1.get_variable('a', [3]))
        show('other dtype', lambda: v1.get_variable('a', [2], tf.int32))
        show('missing', lambda: v1.get_variable('zzz', [2]))
        show('same', lambda: v1.get_variable('a', [2]) is v1.get_variable('a'))
