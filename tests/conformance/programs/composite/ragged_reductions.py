import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
x = tf.ragged.constant([[3., 1., 4.], [], [1., 5.]])
b = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]])
for name in 'reduce_sum reduce_mean reduce_max reduce_min reduce_prod'.split():
    f = getattr(tf, name)
    for axis in (None, 0, 1, -1):
        T(f'{name} {axis}', lambda: f(x, axis))
    for axis in (None, 0, 1, 2, [0, 1], [1, 2], [0, 1, 2], 3):
        T(f'{name} b {axis}', lambda: f(b, axis))
    T(f'{name} keep', lambda: f(x, 1, keepdims=True))
z = tf.ragged.constant([[True, False], [True], []])
for axis in (None, 0, 1):
    T(f'all {axis}', lambda: tf.reduce_all(z, axis)); T(f'any {axis}', lambda: tf.reduce_any(z, axis))
T('inner', lambda: tf.reduce_sum(tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1), 1))
T('inner 2', lambda: tf.reduce_sum(tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1), 2))
