import tensorflow as tf, numpy as np
S = [None, [], [2], [None, 3], [2, 3, 4, None]]
KEYS = [0, 1, -1, 5, slice(None), slice(1, None), slice(None, 2), slice(1, 3), slice(-2, None), slice(None, -1), slice(None, None, 2), slice(3, 1), 'a', None,
        np.int64(0), 1.5]
for a in S:
    x = tf.TensorShape(a)
    for key in KEYS:
        try: print(x, key, repr(x[key]))
        except Exception as e: print(x, key, '!!', type(e).__name__, e)
