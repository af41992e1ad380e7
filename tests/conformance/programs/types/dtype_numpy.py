import tensorflow as tf, numpy as np
for name in ('float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 '
             'complex128 qint8 quint8 qint16 quint16 qint32').split():
    d = getattr(tf, name)
    print(name, d.as_numpy_dtype, np.dtype(d.as_numpy_dtype).itemsize, tf.as_dtype(d.as_numpy_dtype) is d)
for name in ('resource', 'variant'):
    try: print(name, getattr(tf, name).as_numpy_dtype)
    except Exception as e: print(name, type(e).__name__, e)
