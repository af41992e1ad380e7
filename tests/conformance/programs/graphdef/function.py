import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    @tf.function
    def f(x, y):
        return x * 2. + y

    @tf.function
    def h(x):
        return f(x, x) - 1., x

    a, b = h(tf.constant([1., 2.]))
    c = a + b
message = g.as_graph_def()
message.ClearField('versions')
print(message)
