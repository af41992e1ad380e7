import tensorflow as tf, numpy as np
D = tf.compat.v1.Dimension
GIVEN = [None, [], (), 3, [3], (None,), [1, None], [D(2), 3], D(4), np.array([1, 2]), np.int64(5), tf.TensorShape([1]), [np.int32(2)], '12', [1.5], [-1], -3, 'ab', 1.5,
         {1: 2}, range(3), [[1]], [None, 'x'], object, [True], tf.constant([1, 2]), iter([1, 2])]
for given in GIVEN:
    label = type(given).__name__ if hasattr(given, '__next__') else repr(given)
    try:
        s = tf.TensorShape(given)
        print(label, '->', repr(s), str(s), s.rank, s.ndims, s.dims)
    except Exception as e:
        print(label, '!!', type(e).__name__, str(e).splitlines()[0])
