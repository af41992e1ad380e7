import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    with tf.device('/cpu:0'):
        x = v1.placeholder(tf.float32, [2], name='x')
    one = tf.constant(1., name='one')
    with tf.control_dependencies([one]):
        y = tf.add(x, one, name='y')
        z = tf.identity(x, name='z')
    with v1.colocate_with(x):
        a, b = tf.split(y, 2, name='parts')
message = g.as_graph_def()
with v1.Graph().as_default() as other:
    c = tf.constant([5., 6.], name='c')
    with tf.name_scope('s'):
        r = tf.import_graph_def(message, {'x': c}, ['parts:1', 'y'], name='i')
    print(r)
    tf.import_graph_def(message)
    tf.import_graph_def(message, name='')
    tf.import_graph_def(message, name='')
    again = other.as_graph_def()
    again.ClearField('versions')
    print(again)
    with v1.Session() as s:
        print(s.run(r[0]))
