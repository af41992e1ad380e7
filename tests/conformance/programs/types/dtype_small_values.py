import tensorflow as tf, numpy as np
for name in ('bfloat16', 'float8_e5m2', 'float8_e4m3fn', 'int4', 'uint4'):
    d = tf.as_dtype(name)
    try:
        x = tf.cast([0., 1., 2., 3.5, 7.] if d.is_floating else tf.constant([0, 1, 7], tf.int8), d)
        print(name, x.dtype, tf.cast(x, tf.float32).numpy() if d.is_floating else tf.cast(x, tf.int32).numpy(), x.numpy().dtype)
    except Exception as e:
        print(name, type(e).__name__)
    try: print(tf.constant([1, 2], d).dtype if d.is_integer else tf.constant([1., 2.], d).dtype)
    except Exception as e: print(name, type(e).__name__)
x = tf.constant([1.5, 2.25], tf.bfloat16)
print(x, repr(x))
print(x + x, tf.reduce_sum(x), x * 2)
