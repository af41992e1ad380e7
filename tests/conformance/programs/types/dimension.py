import tensorflow as tf, numpy as np
D = tf.compat.v1.Dimension
def attempt(f):
    try: return repr(f())
    except Exception as e: return f'{type(e).__name__}: {e}'
for v in (3, None, 0):
    d = D(v)
    print(repr(d), str(d), d.value, attempt(lambda: int(d)), attempt(lambda: hash(d)), attempt(lambda: bool(d)), attempt(lambda: list(range(5))[d]), attempt(lambda: [1] * d))
    for o in (3, None, D(4), D(None), -1, 'a', 2.0):
        print(repr(d), repr(o), attempt(lambda: d.is_compatible_with(o)), attempt(lambda: d.merge_with(o)), attempt(lambda: d.assert_is_compatible_with(o)))
for bad in (-1, 1.5, 'a', [1], D(2), np.int8(3), True, b'x'):
    print(repr(bad), attempt(lambda: D(bad)))
print(tf.compat.dimension_value(D(2)), tf.compat.dimension_value(None), tf.compat.dimension_value(5), tf.compat.dimension_at_index(tf.TensorShape([1, 2]), 1), tf.compat.dimension_at_index(tf.TensorShape(None), 1))
print(tf.TensorShape([2, None]).dims, tf.TensorShape(None).dims, D(5) == 5, D(5) != 6, D(None) == None, (D(None) == 3) is None)
