import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
r = tf.ragged.constant([[1], [2, 3]])
st = tf.sparse.from_dense([[0, 1]])
n = tf.nest
T('flat', lambda: len(n.flatten({'a': r, 'b': [st, 1]}))); T('expanded', lambda: len(n.flatten({'a': r, 'b': [st, 1]}, expand_composites=True))); T('map', lambda: n.map_structure(lambda t: t, {'a': r}, expand_composites=True)); T('pack', lambda: n.pack_sequence_as([r], n.flatten([r], expand_composites=True), expand_composites=True)); T('same', lambda: n.assert_same_structure(r, r, expand_composites=True)); T('spec', lambda: n.flatten(r._type_spec, expand_composites=True)); T('few', lambda: n.pack_sequence_as([r], [1], expand_composites=True)); T('is_nested', lambda: n.is_nested(r)); T('specs', lambda: n.map_structure(tf.type_spec_from_value, [r, st, 1.]))
