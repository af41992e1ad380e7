import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
R = tf.RaggedTensor
t = tf.constant([[5, 7, 0], [0, 3, 0], [6, 0, 0]])
T('plain', lambda: R.from_tensor(t)); T('lengths', lambda: R.from_tensor(t, lengths=[1, 0, 3])); T('padding', lambda: R.from_tensor(t, padding=0))
T('shape', lambda: R.from_tensor(t).shape)
T('rank 2', lambda: R.from_tensor(tf.reshape(tf.range(12), [2, 3, 2]), ragged_rank=2))
T('rank 2 padding', lambda: R.from_tensor([[[1, 0], [2, 3]], [[0, 0], [4, 0]]], padding=0, ragged_rank=2))
T('nested lengths', lambda: R.from_tensor([[[5, 0], [7, 0], [0, 0]], [[0, 0], [3, 0], [0, 0]]], lengths=([2, 0], [1, 1])))
T('both', lambda: R.from_tensor(t, lengths=[1], padding=0)); T('vector', lambda: R.from_tensor([1, 2])); T('rank 0', lambda: R.from_tensor(t, ragged_rank=0)); T('rank type', lambda: R.from_tensor(t, ragged_rank=1.5))
T('row padding', lambda: R.from_tensor([[[1, 2], [0, 0]], [[3, 4], [5, 6]]], padding=[0, 0]))
r = tf.ragged.constant([[1, 2, 3], [], [4]])
T('to', lambda: r.to_tensor()); T('default', lambda: r.to_tensor(default_value=-1)); T('shape', lambda: r.to_tensor(shape=[None, 2])); T('wider', lambda: r.to_tensor(9, shape=[4, 5])); T('rank', lambda: r.to_tensor(shape=[3]))
T('strings', lambda: tf.ragged.constant([['a'], ['b', 'c']]).to_tensor())
T('3', lambda: tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]]).to_tensor())
T('inner', lambda: tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1).to_tensor())
T('sparse', lambda: r.to_sparse()); T('from sparse', lambda: R.from_sparse(r.to_sparse()))
T('not right', lambda: R.from_sparse(tf.sparse.from_dense([[0, 1]]))); T('no sparse', lambda: R.from_sparse(3))
b = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])
for pair in ((0, 1), (1, 2), (0, 2), (0, 0), (2, 1), (0, -1), (1, -1), (0, 5)):
    T(f'merge {pair}', lambda: b.merge_dims(*pair))
