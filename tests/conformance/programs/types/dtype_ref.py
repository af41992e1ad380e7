import tensorflow as tf, numpy as np
for name in ('float32_ref', 'int32_ref', 'string_ref', 'bool_ref'):
    try:
        d = tf.as_dtype(name)
        print(name, repr(d), d.base_dtype, d._is_ref_dtype, d.as_datatype_enum, d.is_compatible_with(d.base_dtype), d == d.base_dtype)
    except Exception as e:
        print(name, type(e).__name__, e)
