import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
S = tf.SparseTensor
st = S([[0, 1], [1, 0]], [1., 2.], [2, 3])
print(st); T('shape', lambda: st.shape); T('dtype', lambda: st.dtype); T('spec', lambda: st._type_spec); T('get_shape', lambda: st.get_shape()); T('dense_shape', lambda: st.dense_shape); T('with_values', lambda: st.with_values([5, 6]).values)
T('bad rank', lambda: S([0, 1], [1.], [2])); T('bad count', lambda: S([[0, 1]], [1., 2.], [2, 2])); T('bad width', lambda: S([[0, 1]], [1.], [2])); T('values rank', lambda: S([[0]], 1., [2])); T('floats', lambda: S([[0.5]], [1.], [2])); T('empty', lambda: S(np.zeros((0, 2), np.int64), [], [2, 2]).values)
T('from_value', lambda: S.from_value(tf.compat.v1.SparseTensorValue([[0]], [1.], [2])).values); T('from_value bad', lambda: S.from_value(3)); T('set_shape', lambda: st.set_shape([2, 3])); T('set_shape bad', lambda: st.set_shape([3, 3]))
for t in (tf.SparseTensorSpec([2, 3]), tf.SparseTensorSpec(), tf.SparseTensorSpec([None, 3], tf.int32)):
    T('spec', lambda: t); T('compatible', lambda: t.is_compatible_with(st)); T('subtype', lambda: st._type_spec.is_subtype_of(t)); T('eq', lambda: t == st._type_spec); T('type', lambda: t.value_type.__name__); T('hash', lambda: hash(t) == hash(type(t)(t.shape, t.dtype)))
T('nest', lambda: tf.nest.flatten(st, expand_composites=True)); T('pack', lambda: tf.nest.pack_sequence_as(st, [[[0, 0]], [9.], [1, 1]], expand_composites=True)); T('no expand', lambda: len(tf.nest.flatten([st, st]))); T('map', lambda: tf.nest.map_structure(lambda t: t * 2, st, expand_composites=True).values)
T('same', lambda: tf.nest.assert_same_structure(st, st, expand_composites=True)); T('is_tensor', lambda: tf.is_tensor(st)); T('len', lambda: len(st)); T('index', lambda: st[0]); T('add', lambda: st + st)
