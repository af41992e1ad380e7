import tensorflow as tf, numpy as np
v1 = tf.compat.v1
s = tf.TensorShape([2, None])
print([type(d).__name__ for d in s], type(s[0]).__name__, repr(s[0]))
v1.disable_v2_tensorshape()
print([type(d).__name__ for d in s], repr(s[0]), repr(s[1]), s[0] == 2, s[1].value, repr(s), s.as_list(), [d.value for d in s], s[:1], tf.zeros([2, 3]).shape[1].value)
print(tf.TensorShape(None)[0])
v1.enable_v2_tensorshape()
print(repr(s[0]), repr(s[1]), [d for d in s])
