import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
a = tf.ragged.constant([[1, 2], [], [3]])
b = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])
c = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
for r in (a, b, c):
    for name in ('shape', 'dtype', 'ragged_rank', 'values', 'flat_values', 'row_splits', 'nested_row_splits', 'uniform_row_length', '_type_spec'):
        T(name, lambda: getattr(r, name))
    for name in ('nrows', 'row_starts', 'row_limits', 'row_lengths', 'value_rowids', 'nested_value_rowids', 'nested_row_lengths', 'bounding_shape', 'to_list', 'numpy', 'to_tensor', 'to_sparse', 'get_shape'):
        T(name, lambda: getattr(r, name)())
    for axis in (-1, 0, 1, 2, 3):
        T(f'row_lengths {axis}', lambda: r.row_lengths(axis))
        T(f'bounding_shape {axis}', lambda: r.bounding_shape(axis))
    T('with_values', lambda: r.with_flat_values(r.flat_values * 10))
    T('splits', lambda: r.with_row_splits_dtype(tf.int32).row_splits.dtype)
    print(r)
