import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    a = tf.constant(1., name='a')
    b = tf.identity(a, name='b')
    c = tf.identity(b, name='c')
    definition = g.as_graph_def()
definition.node[1].input[0] = 'c'
with tf.Graph().as_default() as h:
    try:
        tf.import_graph_def(definition, name='')
    except ValueError as error:
        print(str(error).split('\n')[0])
    print([op.name for op in h.get_operations()])
