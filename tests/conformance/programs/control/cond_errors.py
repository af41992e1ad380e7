import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
p = v1.placeholder(tf.bool, []); x = v1.placeholder(tf.float32, [2])
show('bool', lambda: tf.cond(True, lambda: 1, lambda: 2))
show('dtype', lambda: tf.cond(p, lambda: 1, lambda: 2.))
show('structure', lambda: tf.cond(p, lambda: [x], lambda: {'a': x}))
show('none', lambda: tf.cond(p, lambda: None, lambda: None))
show('half none', lambda: tf.cond(p, lambda: None, lambda: x))
show('not callable', lambda: tf.cond(p, x, lambda: x))
show('missing', lambda: tf.cond(p, true_fn=lambda: x))
show('object', lambda: tf.cond(p, lambda: object(), lambda: x))
kept = []
def leaks():
    kept.append(x * 3.)
    return x
show('other branch', lambda: tf.cond(p, leaks, lambda: kept[0]))
