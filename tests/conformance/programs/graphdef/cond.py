import tensorflow as tf, numpy as np
import re

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [], name='x')
    y = tf.cond(x > 0., lambda: x * 2., lambda: x - 1.)
message = g.as_graph_def()
message.ClearField('versions')
print(re.sub(r'_\d+"', '_N"', str(message)))
