import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    with g.name_scope('outer'):
        with g.name_scope(None) as none:
            print(repr(none), g.get_name_scope() == '')
    print(g.get_name_scope() == '')

    def op():
        with v1.name_scope(None, 'my_op', [1]) as scope:
            return tf.constant(1, name=scope)

    print(op().name, op().name, op().op.name)
    with tf.name_scope('q'):
        print(op().name)
