import tensorflow as tf, numpy as np
class Typed:
    dtype = np.dtype('int16')
GIVEN = ['float32', 'float', 'double', 'half', 'bfloat16', 'string', 'bool', 'int32', 'uint8', 'complex64', 'complex128',
         'qint8', 'quint16', 'resource', 'variant', 'float8_e5m2', 'int4',
         1, 2, 3, 7, 10, 14, 19, 24, 29, np.float32, np.float64, np.int8, np.uint64, np.bool_, np.str_, np.bytes_, np.object_,
         np.complex128, np.dtype('float16'), np.dtype('>f4'), np.dtype('<i8'), np.dtype('U7'), np.dtype('S3'), np.dtype('O'),
         float, bool, object, tf.float32, tf.string, Typed(), np.zeros(2, np.int16), np.float32(1)]
for given in GIVEN:
    label = type(given).__name__ if isinstance(given, Typed) else repr(given)
    try:
        print(label, '->', repr(tf.as_dtype(given)))
    except Exception as e:
        print(label, '!!', type(e).__name__, str(e).splitlines()[0])
