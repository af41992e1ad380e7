import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    g.add_to_collection('k', 1)
    g.add_to_collections(['k', 'l'], 2)
    g.add_to_collections(('k', 'k'), 3)
    g.add_to_collections('m', 4)
    print(g.get_collection('k'), g.get_collection('l'), g.get_collection('m'), g.get_collection('none'))
    print(g.get_collection('k') is g.get_collection('k'), g.get_collection_ref('k') is g.get_collection_ref('k'))
    g.get_collection_ref('r').append(5)
    print(g.get_collection('r'), sorted(g.get_all_collection_keys()), sorted(g.collections))
    g.clear_collection('k')
    print(g.get_collection('k'), sorted(g.get_all_collection_keys()))
    with tf.name_scope('s'):
        c = tf.constant(1, name='c')
    d = tf.constant(1, name='d')
    for item in (c, d, 7):
        g.add_to_collection('t', item)
    print(g.get_collection('t', scope='s'), g.get_collection('t', 's/c'), g.get_collection('t', '.*d'), g.get_collection('t', ''))
    v1.add_to_collection('z', 1)
    v1.add_to_collections(['z', 'y'], 2)
    print(v1.get_collection('z'), v1.get_collection_ref('y'))
    g.add_to_collection(3, 'int key')
    print(g.get_collection(3), g.get_all_collection_keys())
print(sorted(name for name in dir(v1.GraphKeys) if name.isupper() and name[0] != '_'))
print(v1.GraphKeys.UPDATE_OPS, v1.GraphKeys.TABLE_INITIALIZERS, v1.GraphKeys.GLOBAL_STEP, v1.GraphKeys.METRIC_VARIABLES)
