import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
a = tf.ragged.constant([[1], [2, 3]])
s = tf.ragged.constant([['Ab'], ['c', 'dEf']])
st = tf.sparse.from_dense([[0, 1], [2, 0]])
T('clip', lambda: tf.clip_by_value(a, 1, 2)); T('dropout', lambda: tf.nn.dropout(tf.cast(a, tf.float32), 0.)); T('round', lambda: tf.round(tf.cast(a, tf.float32))); T('not', lambda: tf.logical_not(a > 1)); T('greater', lambda: tf.greater(a, 1)); T('pow', lambda: tf.pow(a, 2))
T('length', lambda: tf.strings.length(s)); T('lower', lambda: tf.strings.lower(s)); T('upper', lambda: tf.strings.upper(s)); T('as_string', lambda: tf.strings.as_string(a)); T('to_number', lambda: tf.strings.to_number(tf.strings.as_string(a))); T('substr', lambda: tf.strings.substr(s, 0, 1)); T('strip', lambda: tf.strings.strip(s))
T('is_nan', lambda: tf.math.is_nan(tf.cast(a, tf.float32))); T('lookup', lambda: tf.nn.embedding_lookup(tf.constant([[1.], [2.], [3.], [4.]]), a)); T('ones', lambda: tf.ones_like(a, tf.float32)); T('split', lambda: tf.strings.split(['a b', 'c'])); T('unstack', lambda: len(list(a)))
