import tensorflow as tf, numpy as np
S = [None, [], [1], [3], [None], [2, 1], [2, 3], [None, 3], [4, 1, 3], [2, None]]
for a in S:
    for b in S:
        try: print(a, b, tf.broadcast_static_shape(tf.TensorShape(a), tf.TensorShape(b)))
        except Exception as e: print(a, b, '!!', type(e).__name__, e)
