import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    v = v1.get_variable('v', initializer=2., use_resource=True)

    @tf.function
    def scaled(x):
        return x * 3.

    @tf.function
    def twice(x, y):
        return scaled(x) + scaled(y), y

    r, s = twice(tf.constant([1.]), tf.constant([2.]))
message = g.as_graph_def()
message.ClearField('versions')
print(message)
