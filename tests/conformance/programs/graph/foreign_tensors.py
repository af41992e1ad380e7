import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    a = tf.constant(1., name='a')
with tf.Graph().as_default() as h:
    b = tf.constant(2., name='b')

    def text(function):
        try:
            return function()
        except Exception as error:
            return type(error).__name__, 'graph' in str(error)
    print(text(lambda: a + b))
    print(text(lambda: tf.add(b, a)))
    print(text(lambda: tf.stack([a, b])))
    print(text(lambda: v1.py_func(lambda x: x, [a], tf.float32)))
    print(text(lambda: tf.identity(a)))
    print([op.name for op in h.get_operations()])
    print(text(lambda: h.as_graph_element(a)))
    print(text(lambda: h.as_graph_element(a.op)))
