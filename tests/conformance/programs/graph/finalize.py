import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = tf.constant(1, name='a')
    g.finalize()
    print(g.finalized)
    attempt('op', lambda: tf.constant(2))
    attempt('operator', lambda: a + 1)
    attempt('collection', lambda: g.add_to_collection('x', 1))
    attempt('seed', lambda: v1.set_random_seed(1))
    attempt('finalize', g.finalize)
    with v1.Session() as sess:
        print(sess.run(a))
        attempt('script', lambda: v1.py_func(lambda: 1., [], tf.float64))
    attempt('prevent', lambda: g.prevent_feeding(a))
    attempt('unique', lambda: g.unique_name('b'))
    attempt('scope', lambda: g.name_scope('s').__enter__())
    attempt('import', lambda: tf.import_graph_def(g.as_graph_def()))
