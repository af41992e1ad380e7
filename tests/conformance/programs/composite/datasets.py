import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
D = tf.data.Dataset
made = D.range(3).map(lambda i: tf.py_function(lambda n: tf.RaggedTensor.from_row_lengths(tf.range(n), [n]), [i], tf.RaggedTensorSpec([None, None], tf.int64)))
print(made.element_spec)
T('ragged', lambda: list(made))
pair = D.from_tensors((tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[0, 1]])))
print(pair.element_spec)
T('pair', lambda: list(pair.map(lambda a, b: (a * 2, b)).repeat(2).take(2)))
T('dict', lambda: list(pair.map(lambda a, b: {'x': a.nrows(), 'y': tf.sparse.to_dense(b)})))
T('zip', lambda: list(D.zip((pair, D.range(1)))))
T('filter', lambda: len(list(made.filter(lambda r: tf.reduce_sum(r) > 0))))
T('prefetch', lambda: list(made.prefetch(1).skip(2)))
T('reduce', lambda: made.reduce(np.int64(0), lambda total, r: total + tf.reduce_sum(r)))
