import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
S = tf.RaggedTensorSpec
r = tf.ragged.constant([[1., 2.], [3.]])
specs = [S([2, None]), S([None, None]), S(None, ragged_rank=1), S([2, None], tf.int32), S([None, None, None]), S([None, None, 3], ragged_rank=1), S([2, None], row_splits_dtype=tf.int32), S([None], ragged_rank=0)]
for s in specs:
    T('repr', lambda: s); T('compat', lambda: s.is_compatible_with(r)); T('subtype', lambda: r._type_spec.is_subtype_of(s)); T('facts', lambda: (s.shape, s.dtype, s.ragged_rank, s.row_splits_dtype, s.value_type.__name__)); T('flat', lambda: tf.nest.flatten(s, expand_composites=True)); T('eq', lambda: [int(s == t) for t in specs]); T('compat specs', lambda: [int(s.is_compatible_with(t)) for t in specs]); T('super', lambda: s.most_specific_common_supertype([specs[0]]))
T('from_value', lambda: S.from_value(r)); T('of value', lambda: S.from_value(tf.compat.v1.ragged.constant_value([[1], [2, 3]]))); T('no dtype', lambda: S([None, None], dtype=None))
