import tensorflow as tf, numpy as np
D = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int32, tf.int64, tf.uint8, tf.bool, tf.string, tf.complex64]
for value in (1, -1, 300, 1.5, True, 'a', 1j, np.float64(2), np.int64(3), np.array([1.5])):
    row = []
    for d in D:
        try: row.append(str(tf.convert_to_tensor(value, d).numpy()))
        except Exception as e: row.append(type(e).__name__)
    print(repr(value), row)
