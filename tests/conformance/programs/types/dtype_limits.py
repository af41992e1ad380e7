import tensorflow as tf, numpy as np
NAMES = ('float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 complex128 '
         'qint8 quint8 qint16 quint16 qint32 resource variant').split()
for name in NAMES:
    d = getattr(tf, name)
    for fact in ('min', 'max', 'limits', 'real_dtype', 'base_dtype'):
        try:
            value = getattr(d, fact)
            print(name, fact, repr(value), type(value).__name__)
        except Exception as e:
            print(name, fact, '!!', type(e).__name__, e)
