import tensorflow as tf, numpy as np
v1 = tf.compat.v1
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
print(tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), [tf.constant(0)]))
print(tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 2.), (tf.constant(0), tf.constant(1.))))
print(tf.while_loop(lambda i, s: i < 3, lambda i, s: [i + 1, s + i], [0, 10]))
show('scalar', lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]))
show('no list', lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, tf.constant(0)))
show('maximum', lambda: tf.while_loop(lambda i: True, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=5))
show('maximum tuple', lambda: tf.while_loop(lambda i: True, lambda i: (i + 1,), [tf.constant(0)], maximum_iterations=5))
show('maximum vector', lambda: tf.while_loop(lambda i: True, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=[5]))
show('v1', lambda: v1.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]))
show('v1 maximum', lambda: v1.while_loop(lambda i: i < 30, lambda i: i + 1, [tf.constant(0)], maximum_iterations=4))
show('empty', lambda: tf.while_loop(lambda: True, lambda: (), []))
show('structure', lambda: tf.while_loop(lambda i: i < 3, lambda i: (i + 1, i), [tf.constant(0)]))
show('callable', lambda: tf.while_loop(1, lambda i: i, [0])); show('body', lambda: tf.while_loop(lambda i: i, 1, [0]))
show('parallel', lambda: tf.while_loop(lambda i: i < 1, lambda i: (i + 1,), [0], parallel_iterations=0))
show('nested', lambda: tf.while_loop(lambda d: d['i'] < 2, lambda d: ({'i': d['i'] + 1},), [{'i': tf.constant(0)}]))
