import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
st = tf.sparse.from_dense([[0, 2, 0], [3, 0, 4]])
D = tf.sparse.to_dense
T('from', lambda: st); T('dense', lambda: D(st)); T('default', lambda: D(st, -1)); T('strings', lambda: D(tf.sparse.from_dense([['', 'a']]))); T('bools', lambda: D(tf.SparseTensor([[1]], [True], [3])))
u = tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])
T('unordered', lambda: D(u)); T('unvalidated', lambda: D(u, validate_indices=False)); T('repeated', lambda: D(tf.SparseTensor([[0], [0]], [1, 2], [2]))); T('outside', lambda: D(tf.SparseTensor([[5]], [1], [2]))); T('reorder', lambda: tf.sparse.reorder(u))
T('add', lambda: D(tf.sparse.add(st, st))); T('add dense', lambda: tf.sparse.add(st, [[1, 1, 1], [1, 1, 1]])); T('add threshold', lambda: tf.sparse.add(st, tf.sparse.from_dense([[0, -2, 0], [0, 0, 0]]), threshold=1)); T('add none', lambda: tf.sparse.add(1, 2)); T('cancel', lambda: tf.sparse.add(st, st.with_values(-st.values)))
for axis in (None, 0, 1, -1, [0, 1], 5):
    T(f'sum {axis}', lambda: tf.sparse.reduce_sum(st, axis)); T(f'max {axis}', lambda: tf.sparse.reduce_max(st, axis)); T(f'sum keep {axis}', lambda: tf.sparse.reduce_sum(st, axis, keepdims=True))
T('sum sparse', lambda: tf.sparse.reduce_sum(st, 1, output_is_sparse=True))
f = tf.cast(st, tf.float32)
T('matmul', lambda: tf.sparse.sparse_dense_matmul(f, tf.ones([3, 2]))); T('matmul a', lambda: tf.sparse.sparse_dense_matmul(f, tf.ones([2, 2]), adjoint_a=True)); T('matmul b', lambda: tf.sparse.sparse_dense_matmul(f, tf.ones([2, 3]), adjoint_b=True)); T('matmul ds', lambda: tf.sparse.sparse_dense_matmul(tf.ones([2, 2]), f)); T('matmul bad', lambda: tf.sparse.sparse_dense_matmul(f, tf.ones([2, 2])))
T('transpose', lambda: D(tf.sparse.transpose(st))); T('reshape', lambda: D(tf.sparse.reshape(st, [3, 2]))); T('reshape -1', lambda: D(tf.sparse.reshape(st, [-1]))); T('reshape bad', lambda: tf.sparse.reshape(st, [5])); T('slice', lambda: D(tf.sparse.slice(st, [0, 1], [2, 2]))); T('split', lambda: [D(p) for p in tf.sparse.split(st, 2, axis=1)]); T('concat', lambda: D(tf.sparse.concat(0, [st, st]))); T('concat 1', lambda: D(tf.sparse.concat(1, [st, st]))); T('concat bad', lambda: tf.sparse.concat(0, [st, u]))
T('expand_dims', lambda: tf.sparse.expand_dims(st, 0).shape); T('eye', lambda: D(tf.sparse.eye(2, 3))); T('retain', lambda: D(tf.sparse.retain(st, [True, False, True]))); T('reset', lambda: tf.sparse.reset_shape(st, [4, 4]).dense_shape); T('reset tight', lambda: tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [1], [9, 9])).dense_shape)
T('empty rows', lambda: tf.sparse.fill_empty_rows(tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [4, 3]), 9)); T('maximum', lambda: D(tf.sparse.maximum(f, tf.sparse.from_dense([[0., 9., 0.], [0., 1., 1.]])))); T('map', lambda: tf.sparse.map_values(tf.square, f).values); T('softmax', lambda: tf.sparse.softmax(f).values); T('indicator', lambda: tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 0]], [2, 1], [2, 1]), 4))
T('times', lambda: D(f * 2.)); T('times tensor', lambda: D(f * tf.ones([2, 3]))); T('divided', lambda: (f / 2.).values); T('abs', lambda: tf.abs(f).values); T('sqrt', lambda: tf.sqrt(f).values); T('size', lambda: tf.size(f)); T('tf.shape', lambda: tf.shape(f))
