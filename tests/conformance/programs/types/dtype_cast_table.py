import tensorflow as tf, numpy as np
D = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128]
for a in D:
    x = tf.cast([0, 1, 3, 100], a)
    print(a.name, x.numpy().tolist())
    for b in D:
        y = tf.cast(x, b)
        print(a.name, b.name, y.dtype.name, y.numpy().tolist())
