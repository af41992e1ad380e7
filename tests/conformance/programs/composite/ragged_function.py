import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
traces = []
@tf.function
def f(x):
    traces.append(x.shape)
    return x * 2, tf.reduce_sum(x, 1)
T('a', lambda: f(tf.ragged.constant([[1, 2], [3]]))); T('b', lambda: f(tf.ragged.constant([[1], [3, 4, 5]]))); T('c', lambda: f(tf.ragged.constant([[1], [2], [3]])))
print(traces, f.experimental_get_tracing_count())
@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
def g(x):
    traces.append(x.shape)
    return x + 1
T('a', lambda: g(tf.ragged.constant([[1, 2], [3]]))); T('b', lambda: g(tf.ragged.constant([[1], [2], [3]]))); T('bad', lambda: g(tf.ragged.constant([[1.]])) and 1)
print(traces, g.experimental_get_tracing_count())
h = tf.function(lambda d: {'r': d['a'][:1], 'n': d['a'].nrows(), 's': d['s']})
T('dict', lambda: h({'a': tf.ragged.constant([[1, 2], [3]]), 's': tf.sparse.from_dense([[0, 1]])}))
c = g.get_concrete_function()
T('concrete', lambda: c(tf.ragged.constant([[7], []]))); print(c.structured_outputs)
T('captured', lambda: tf.function(lambda: tf.ragged.constant([[1], [2, 3]]) + tf.ragged.constant([[10], [20, 30]]))())
