import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
st = tf.sparse.from_dense([[0., 2.], [3., 0.]])
S = tf.SparseTensorSpec
T('seen', lambda: tf.py_function(lambda s: print(type(s).__name__, s.shape) or tf.sparse.reduce_sum(s), [st], tf.float32)); T('back', lambda: tf.py_function(lambda s: s.with_values(s.values * 2), [st], S([2, 2]))); T('unknown shape', lambda: tf.py_function(lambda s: s, [st], S(None)).shape)
T('list', lambda: tf.py_function(lambda s: [s, 7], [st], [S([None, None]), tf.int32])); T('tensor', lambda: tf.py_function(lambda s: s.values, [st], S([2, 2]))); T('dtype', lambda: tf.py_function(lambda s: s, [st], S([2, 2], tf.int32))); T('wrong', lambda: tf.py_function(lambda s: s, [st], tf.float32))
f = tf.function(lambda x: tf.py_function(lambda s: s, [x], S([2, 2])))
T('function', lambda: tf.sparse.to_dense(f(st))); 
with tf.Graph().as_default():
    p = tf.compat.v1.sparse_placeholder(tf.float32)
    q = tf.compat.v1.sparse_placeholder(tf.float32, [2, 3], name='q')
    print(p, q, p.shape, q.shape)
    y = tf.py_function(lambda s: s.with_values(-s.values), [p], S([None, None]))
    with tf.compat.v1.Session() as s:
        v = tf.compat.v1.SparseTensorValue([[0, 1]], [5.], [1, 2])
        T('session', lambda: s.run(y, {p: v})); T('tuple', lambda: s.run(p, {p: ([[0, 1]], [5.], [1, 2])})); T('numpy', lambda: s.run(p.values, {p: v})); T('struct', lambda: s.run({'a': [p]}, {p: v})); T('dense', lambda: s.run(tf.sparse.to_dense(p), {p: v})); T('eval', lambda: p.eval({p: v}, s))
T('numpy', lambda: tf.numpy_function(lambda s: np.int64(s.ndim), [st], tf.int64))
