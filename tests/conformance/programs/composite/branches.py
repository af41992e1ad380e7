import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
a, b = tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4, 5], []])
st = tf.sparse.from_dense([[0, 1]])
T('cond eager', lambda: tf.cond(tf.constant(True), lambda: a, lambda: b)); T('cond', lambda: tf.function(lambda p: tf.cond(p, lambda: a, lambda: b))(tf.constant(False)))
T('cond sparse', lambda: tf.function(lambda p: tf.cond(p, lambda: st, lambda: st.with_values([7])))(tf.constant(False)))
T('while', lambda: tf.function(lambda: tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * 2), (0, a)))())
T('while eager', lambda: tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * 2), (0, a)))
T('switch_case', lambda: tf.function(lambda i: tf.switch_case(i, [lambda: a, lambda: b]))(tf.constant(1)))
T('nested', lambda: tf.function(lambda x: tf.function(lambda y: y + 1)(x))(a))
T('returned', lambda: tf.function(lambda: (a, [st], None))())
