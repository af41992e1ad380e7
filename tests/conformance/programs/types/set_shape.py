import tensorflow as tf, numpy as np
v1 = tf.compat.v1
with tf.Graph().as_default():
    for first in (None, [None], [None, None], [2, None]):
        for second in (None, [3], [2], [None, 3], [2, 3], [2, 3, 4], 'x', [-1]):
            p = v1.placeholder(tf.float32, first)
            try: p.set_shape(second); print(first, second, p.shape)
            except Exception as e: print(first, second, '!!', type(e).__name__, e)
for second in ([2], [None], None, [3], [1, 2], []):
    x = tf.constant([1., 2.])
    try: x.set_shape(second); print(x.shape)
    except Exception as e: print(second, type(e).__name__, e)
