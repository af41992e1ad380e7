import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
x = tf.ragged.constant([[1., 2.], [3.]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.reduce_sum(x * x)
    z = x * 3.
    m = tf.reduce_mean(x, 1)
T('y', lambda: tape.gradient(y, x)); T('z', lambda: tape.gradient(z, x)); T('m', lambda: tape.gradient(m, x)); T('flat', lambda: tape.gradient(y, x.flat_values)); T('list', lambda: tape.gradient(y, [x, x.flat_values])); T('seed', lambda: tape.gradient(z, x, output_gradients=tf.ragged.constant([[1., 10.], [100.]])))
T('splits', lambda: tape.gradient(y, x.row_splits)); T('to_tensor', lambda: 1)
with tf.GradientTape() as tape:
    tape.watch(x)
    t = tf.reduce_sum(x.to_tensor() * [[1., 2.], [3., 4.]])
T('to_tensor', lambda: tape.gradient(t, x))
with tf.GradientTape() as tape:
    tape.watch(x)
    t = tf.reduce_sum(x[:, :1]) + tf.reduce_sum(tf.gather(x, [0, 0]))
T('gather', lambda: tape.gradient(t, x))
with tf.GradientTape() as tape:
    s = tf.sparse.from_dense([[1., 0.]])
    tape.watch(s.values)
    t = tf.reduce_sum(tf.sparse.to_dense(s) * 3.)
T('sparse', lambda: tape.gradient(t, s.values))
