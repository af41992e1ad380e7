import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    with v1.variable_scope('one') as scope:
        a = v1.get_variable('a', [1])
        print(a.name, scope.name, scope.original_name_scope, scope.reuse, tf.constant(1.).name)
        with v1.variable_scope('two') as inner:
            print(v1.get_variable('b', [1]).name, inner.name, tf.constant(1.).name)
    with v1.variable_scope('one', reuse=True) as again:
        print(v1.get_variable('a', [1]) is a, again.original_name_scope, tf.constant(1.).name)
        show('new', lambda: v1.get_variable('c', [1]))
    with v1.variable_scope(scope, reuse=True):
        print(v1.get_variable('a', [1]) is a, tf.constant(1.).name)
    with v1.variable_scope('one'):
        show('exists', lambda: v1.get_variable('a', [1]))
    with v1.variable_scope('one', reuse=v1.AUTO_REUSE):
        print(v1.get_variable('a', [1]) is a, v1.get_variable('d', [1]).name)
    with v1.variable_scope('one') as back:
        back.reuse_variables()
        print(v1.get_variable('a', [1]) is a, back.reuse)
    with v1.variable_scope(None, 'default'):
        print(v1.get_variable('x', [1]).name)
    with v1.variable_scope(None, 'default'):
        print(v1.get_variable('x', [1]).name)
    with v1.variable_scope('a/b'):
        print(v1.get_variable('x', [1]).name, v1.get_variable_scope().name)
    print(repr(v1.get_variable_scope().name))
    show('nothing', lambda: v1.variable_scope(None).__enter__())
    with v1.name_scope('names'):
        print(v1.get_variable('y', [1]).name, v1.Variable(1., name='z').name)
    with v1.variable_scope('only', auxiliary_name_scope=False):
        print(v1.get_variable('y', [1]).name, tf.constant(1., name='c').name)
