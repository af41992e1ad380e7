import tensorflow as tf, numpy as np

v1 = tf.compat.v1


with tf.Graph().as_default():
    with v1.variable_scope('s', initializer=v1.constant_initializer(3.), dtype=tf.float64):
        a = v1.get_variable('a', [2])
        print(a.dtype)
        with v1.variable_scope('t'):
            b = v1.get_variable('b', [1])
        c = v1.get_variable('c', [1], initializer=v1.ones_initializer())
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run([a, b, c]))
    with v1.variable_scope('r', regularizer=lambda w: tf.reduce_sum(w * w)):
        d = v1.get_variable('d', initializer=[3., 4.])
    losses = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    print(len(losses), v1.losses.get_regularization_losses() == losses if hasattr(v1, 'losses') else True)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run(losses))

    def getter(getter, name, *args, **kwargs):
        print('getter', name, sorted(k for k in kwargs if k in ('shape', 'trainable', 'initializer')))
        return getter(name + '_mine', *args, **kwargs)

    with v1.variable_scope('g', custom_getter=getter):
        print(v1.get_variable('e', [1]).name)
    with v1.variable_scope('h', constraint=tf.nn.relu):
        print(v1.get_variable('f', [1]).constraint is tf.nn.relu)
    scope = v1.get_variable_scope()
    scope.set_initializer(v1.zeros_initializer())
    print(scope.initializer is not None, scope.reuse, scope.dtype)
