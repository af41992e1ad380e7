import tensorflow as tf, numpy as np
OTHERS = ['float32', 'float', np.float32, np.dtype('float32'), 1, tf.float32, tf.float64, tf.half, tf.float16, 'nonsense', None, 3.5, float, [],
          object(), np.float64]
for other in OTHERS:
    label = 'object()' if type(other) is object else repr(other)
    print(label, tf.float32 == other, tf.float32 != other, other == tf.float32, other in (tf.float32,), tf.float16 == other)
print(hash(tf.float32), hash(tf.int64), hash(tf.string), {tf.float32: 1}[tf.as_dtype('float32')], int(tf.float32))
print(tf.half is tf.float16, tf.double is tf.float64, len({tf.half, tf.float16, tf.double}))
print(sorted([tf.int32, tf.float32, tf.string], key=int), tf.float32 in {tf.float32, tf.int32}, tf.int8 in [tf.float32])
for f in (lambda: tf.float32 < tf.float64, lambda: tf.float32 + 1, lambda: tf.float32(1.)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
