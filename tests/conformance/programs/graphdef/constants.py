import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    tf.constant(1.5)
    tf.constant([1, 2, 3])
    tf.constant([[1., 2.], [3., 4.]], name='m')
    tf.constant(True)
    tf.constant('text', name='s')
    tf.constant(['a', 'b"c', 'é\n'])
    tf.constant(1 + 2j)
    tf.constant(7, tf.int64)
    tf.constant(0.1, tf.float64)
    tf.constant([], tf.int32)
    tf.constant(2, shape=[2, 3])
    tf.constant(5, tf.uint8)
    tf.constant(1.5, tf.float16)
    tf.constant(1.5, tf.bfloat16)
message = g.as_graph_def()
message.ClearField('versions')
print(message)
