import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
rt = tf.ragged.constant([[1, 2, 3], [4], [5, 6]])
S = tf.RaggedTensorSpec
T('seen', lambda: tf.py_function(lambda r: print(type(r).__name__, r, r.shape) or tf.reduce_sum(r), [rt], tf.int32)); T('one of two', lambda: tf.py_function(lambda r, n: r * n, [rt, 2], S([None, None], tf.int32)))
T('list', lambda: tf.py_function(lambda r: [r, 7], [rt], [S([None, None], tf.int32), tf.int32])); T('tuple', lambda: tf.py_function(lambda r: (r, r), [rt], (S([None, None], tf.int32), S([None, None], tf.int32))))
T('single in list', lambda: tf.py_function(lambda r: r, [rt], [S([None, None], tf.int32)])); T('dtype', lambda: tf.py_function(lambda r: tf.cast(r, tf.float32), [rt], S([None, None], tf.int32)))
T('shape', lambda: tf.py_function(lambda r: r, [rt], S([4, None], tf.int32))); T('nothing', lambda: tf.py_function(lambda r: None, [rt], [])); T('none', lambda: tf.py_function(lambda r: None, [rt], tf.int32)); T('deep', lambda: tf.py_function(lambda r: tf.RaggedTensor.from_row_splits(r, [0, 1, 3]), [rt], S([None, None, None], tf.int32)))
def boom(r): raise ValueError('bad')
T('raises', lambda: tf.py_function(boom, [rt], tf.int32))
f = tf.function(lambda x: tf.py_function(lambda r: r * 2, [x], S([None, None], tf.int32)))
T('function', lambda: f(rt)); T('function 2', lambda: f(tf.ragged.constant([[1]])))
with tf.GradientTape() as tape:
    x = tf.ragged.constant([[1., 2.], [3.]])
    tape.watch(x)
    y = tf.reduce_sum(tf.py_function(lambda r: r * r, [x], S([None, None])))
T('gradient', lambda: tape.gradient(y, x))
with tf.Graph().as_default():
    p = tf.compat.v1.ragged.placeholder(tf.int32, 1)
    y = tf.py_function(lambda r: [r + 1, tf.reduce_max(r)], [p], [S([None, None], tf.int32), tf.int32])
    with tf.compat.v1.Session() as s:
        T('session', lambda: s.run(y, {p: tf.compat.v1.ragged.constant_value([[1, 2], [3]], dtype=np.int32)}))
T('numpy', lambda: tf.numpy_function(lambda r: np.int64(r.ndim), [rt], tf.int64))
