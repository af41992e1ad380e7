import tensorflow as tf, numpy as np
import re

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    i = tf.constant(0)
    n = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [i])
message = g.as_graph_def()
message.ClearField('versions')
print(re.sub(r'_\d+"', '_N"', str(message)))
