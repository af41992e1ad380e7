import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    print(g.graph_def_versions.producer > 1000, g.graph_def_versions.min_consumer)
    before = g.version
    tf.constant(1)
    print(g.version - before)
    c = tf.constant(2, name='c')
    d = g.as_graph_def()
    print([n.name for n in d.node], d.versions.producer == g.graph_def_versions.producer)
    g2 = tf.Graph()
    d.versions.min_consumer = 999999
    with g2.as_default():
        attempt('too new', lambda: tf.import_graph_def(d, name=''))
