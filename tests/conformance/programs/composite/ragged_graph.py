import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
v1 = tf.compat.v1
with tf.Graph().as_default():
    p = v1.ragged.placeholder(tf.float32, 1)
    q = v1.ragged.placeholder(tf.int32, 2, name='q')
    print(p.shape, q.shape, p._type_spec, q._type_spec)
    value = v1.ragged.constant_value([[1., 2.], [3.]], dtype=np.float32)
    deep = v1.ragged.constant_value([[[1], [2, 3]], []], dtype=np.int32)
    s = v1.Session()
    T('fetch', lambda: s.run(p, {p: value})); T('deep', lambda: s.run(q, {q: deep})); T('sum', lambda: s.run(tf.reduce_sum(p, 1), {p: value})); T('plus', lambda: s.run(p + 1., {p: value})); T('both', lambda: s.run([p * 2., q], {p: value, q: deep}))
    T('dict', lambda: s.run({'a': p, 'b': [q]}, {p: value, q: deep})); T('to_tensor', lambda: s.run(p.to_tensor(), {p: value})); T('index', lambda: s.run(p[0], {p: value})); T('list', lambda: s.run(p, {p: value}).to_list())
    T('slice', lambda: s.run(p[:, :1], {p: value})); T('concat', lambda: s.run(tf.concat([p, p], 1), {p: value})); T('nrows', lambda: s.run(q.nrows(), {q: deep})); T('constant', lambda: s.run(tf.ragged.constant([[1], [2, 3]])))
    T('parts', lambda: s.run([p.flat_values, p.row_splits], {p: value})); T('not fed', lambda: s.run(p)); T('callable', lambda: s.make_callable(tf.reduce_sum(p), [p.flat_values, p.row_splits])(value.values, value.row_splits))
    T('other rows', lambda: s.run(p + tf.ragged.constant([[1.], [2., 3.]]), {p: value}))
T('placeholder', lambda: v1.ragged.placeholder(tf.float32, 1))
