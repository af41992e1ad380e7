import tensorflow as tf, numpy as np
for name in ('float8_e5m2', 'float8_e4m3fn', 'int4', 'uint4'):
    d = getattr(tf.dtypes.experimental, name)
    print(name, repr(d), d, d.size, d.as_datatype_enum, d.is_floating, d.is_integer, d.is_unsigned, d.is_numeric,
          d.is_numpy_compatible, d.is_quantized, d.as_numpy_dtype)
    for fact in ('min', 'max', 'limits', 'real_dtype'):
        try:
            value = getattr(d, fact)
            print(name, fact, repr(value), type(value).__name__)
        except Exception as e:
            print(name, fact, '!!', type(e).__name__, e)
    print(tf.as_dtype(name) is d, tf.as_dtype(d.as_numpy_dtype) is d)
