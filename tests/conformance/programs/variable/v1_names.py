import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    print([v1.Variable(1., name=n).name for n in ('a', 'a', 'b')], v1.Variable(1.).name, v1.Variable(1.).name)
    with tf.name_scope('s'):
        print(v1.Variable(1., name='a').name)
    with v1.variable_scope('t'):
        print(v1.Variable(1., name='a').name, v1.get_variable('a', []).name)
    print(v1.get_variable('s/a', []).name)
    show('bad', lambda: v1.Variable(1., name='a b'))
    show('by name', lambda: v1.get_default_graph().get_tensor_by_name('a:0').dtype)
