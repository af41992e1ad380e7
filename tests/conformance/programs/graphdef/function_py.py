import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    @tf.function
    def f(x):
        return tf.py_function(lambda a: a, [x], tf.float32)

    c = f(tf.constant(1.))
message = g.as_graph_def()
message.ClearField('versions')
print(message)
