import tensorflow as tf, numpy as np
for given in ([2, 3], [], [2**40], [None], None):
    for dtype in (None, tf.int32, tf.int64, tf.float32):
        try: print(given, dtype, tf.convert_to_tensor(tf.TensorShape(given), dtype))
        except Exception as e: print(given, dtype, '!!', type(e).__name__, str(e).splitlines()[0])
print(tf.zeros(tf.TensorShape([2, 1])).shape, tf.reshape(tf.range(6), tf.TensorShape([3, 2])).shape, tf.fill(tf.TensorShape([2]), 1).numpy())
