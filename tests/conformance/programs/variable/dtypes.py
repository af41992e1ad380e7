import tensorflow as tf, numpy as np

for dtype in (tf.float16, tf.float32, tf.float64, tf.int8, tf.int32, tf.int64, tf.uint8, tf.bool, tf.complex64, tf.bfloat16, tf.string):
    value = 'a' if dtype == tf.string else True if dtype == tf.bool else 1
    v = tf.Variable(tf.cast(value, dtype) if dtype != tf.string else value)
    print(v)
    if dtype not in (tf.string, tf.bool):
        print(v.assign_add(tf.cast(1, dtype)).numpy())
