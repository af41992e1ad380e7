import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
from collections import namedtuple
P = namedtuple('P', 'a b')
v = tf.Variable([1., 2.])
for mode in (lambda f: f, tf.function):
    show('named', mode(lambda: tf.while_loop(lambda p: p.a < 3, lambda p: (P(p.a + 1, p.b * 2.),), [P(tf.constant(0), tf.constant(1.))])))
    show('itself', mode(lambda: [t + 0 for t in tf.while_loop(lambda a, b: a < 3, lambda a, b: P(a + 1, b * 2.), P(tf.constant(0), tf.constant(1.)))]))
    show('variable', mode(lambda: tf.while_loop(lambda i, w: i < 2, lambda i, w: (i + 1, w + v), [0, v])[1]))
    show('map variable', mode(lambda: tf.map_fn(lambda e: e * 2., v)))
    show('scan variable', mode(lambda: tf.scan(lambda a, e: a + e, v)))
f = tf.function(lambda p: tf.cond(p, lambda: v, lambda: v * 2.))
print(f(tf.constant(True)).numpy(), f(tf.constant(False)).numpy())
