import tensorflow as tf, numpy as np
VALUES = [1, 1., True, 'a', b'a', 1j, 2**40, [1, 2.5], [True, False], np.float64(1), np.float32(1), np.int8(1), np.uint16([1]), np.array(['a']), np.array([b'a']),
          np.array([1j]), np.array([1.5], np.float16), [], [[]], np.zeros((0, 2)), np.bool_(True), (1, 2), range(3), [np.float64(1), 2], [1, np.float64(2)], np.array([1, 2], '>i4')]
for value in VALUES:
    try: print(repr(value), '->', tf.constant(value).dtype.name, tf.constant(value).shape)
    except Exception as e: print(repr(value), '!!', type(e).__name__, str(e).splitlines()[0])
