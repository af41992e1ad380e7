import tensorflow as tf, numpy as np
GIVEN = ['float31', '', 'Float32', 'tf.float32', 0, 200, -1, 1.5, None, int, str, complex, bytes, list, [], {}, (tf.float32,), [tf.float32],
         np.dtype('M8[s]'), np.dtype([('a', 'i4'), ('b', 'f4')]), np.longdouble, np.datetime64, np.number, np.floating, 'ref', 'float32_ref', 101]
for given in GIVEN:
    try:
        print(repr(given), '->', repr(tf.as_dtype(given)))
    except Exception as e:
        print(repr(given), '!!', type(e).__name__, str(e).splitlines()[0])
