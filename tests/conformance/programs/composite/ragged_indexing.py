import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
a = tf.ragged.constant([[1, 2, 3], [], [4], [5, 6]])
b = tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]])
u = tf.RaggedTensor.from_tensor([[1, 2, 3], [4, 5, 6]])
S = np.s_
for name, r in (('a', a), ('b', b), ('u', u)):
    for key in (S[0], S[1], S[-1], S[9], S[:2], S[1:], S[::2], S[::-1], S[:, 0], S[:, :1], S[:, -1:], S[:, 1:], S[:, ::2], S[:, ::-1], S[0, 0], S[0, :1], S[..., :1], S[tf.newaxis], S[:, tf.newaxis],
                S[..., tf.newaxis], S[1:, :1], S[0, 0, 0], S[:, :, :1], S[0, :, 0], S['x'], S[:, 1.5:], S[0:0], S[:, -2:-1], S[...]):
        T(f'{name}{key}', lambda: r[key])
T('tensor', lambda: a[tf.constant(2)]); T('gather', lambda: tf.gather(a, [2, 0, 0])); T('gather 2', lambda: tf.gather(a, [[2], [0]])); T('gather b', lambda: tf.gather(b, [2, 1])); T('gather ragged', lambda: tf.gather([10, 20, 30], tf.ragged.constant([[0, 2], [1]])))
T('gather bad', lambda: tf.gather(a, [7])); T('iterate', lambda: [x.numpy().tolist() for x in a]); T('in', lambda: list(b)[0])
