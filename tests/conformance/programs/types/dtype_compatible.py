import tensorflow as tf, numpy as np
ALL = [tf.float16, tf.float32, tf.float64, tf.int32, tf.string, tf.bool, tf.complex64, tf.qint8, tf.resource]
for a in ALL:
    print(a.name, *[int(a.is_compatible_with(b)) for b in ALL], *[int(a.is_subtype_of(b)) for b in ALL if hasattr(a, 'is_subtype_of')])
for other in ('float32', np.float32, 1, 'bad', None):
    try: print(repr(other), tf.float32.is_compatible_with(other))
    except Exception as e: print(repr(other), type(e).__name__, e)
