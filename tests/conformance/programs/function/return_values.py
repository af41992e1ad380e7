import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
show('none', tf.function(lambda: None)); show('int', tf.function(lambda: 5)); show('float', tf.function(lambda: 1.5)); show('str', tf.function(lambda: 'a')); show('bool', tf.function(lambda: True))
show('list', tf.function(lambda: [1, 2])); show('tuple', tf.function(lambda: (1, (2, None)))); show('dict', tf.function(lambda: {'b': 1, 'a': 2})); show('array', tf.function(lambda: np.ones(2)))
import collections
P = collections.namedtuple('P', 'x y')
show('namedtuple', tf.function(lambda: P(1, 2)))
show('object', tf.function(lambda: object())); show('type', tf.function(lambda: int)); show('set', tf.function(lambda: {1})); show('function', tf.function(lambda: len))
show('variable', tf.function(lambda v: v), tf.Variable(3)); show('empty', tf.function(lambda: ())); show('empty dict', tf.function(lambda: {}))
r = tf.function(lambda x: x)(tf.constant(1)); print(type(r).__name__)
show('same', lambda: (lambda a: a[0] is a[1])(tf.function(lambda x: (x, x))(tf.constant(1))))
