import tensorflow as tf, numpy as np
NAMES = ('float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string complex64 complex128 '
         'qint8 quint8 qint16 quint16 qint32 resource variant half double').split()
FACTS = ('name is_floating is_integer is_unsigned is_complex is_bool is_numeric is_quantized is_numpy_compatible size '
         'as_datatype_enum').split()
for name in NAMES:
    d = getattr(tf, name)
    print(name, repr(d), str(d), *[f'{fact}={getattr(d, fact)}' for fact in FACTS])
