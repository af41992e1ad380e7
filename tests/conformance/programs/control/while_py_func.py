import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
log = []
def body(i, a): return i + 1, tf.ensure_shape(v1.py_func(lambda i, a: log.append(int(i)) or a * np.float32(2), [i, a], tf.float32), [])
s = v1.Session()
print(s.run(tf.while_loop(lambda i, a: i < 4, body, [0, 1.])), log)
def test(i): return v1.py_func(lambda i: log.append('test') or bool(i < 2), [i], tf.bool)
del log[:]
print(s.run(tf.while_loop(test, lambda i: i + 1, [0])), log)
def fails(i): return tf.ensure_shape(v1.py_func(lambda i: 1 // (2 - i), [i], tf.int64), [])
show('raises', lambda: s.run(tf.while_loop(lambda i, j: i < 4, lambda i, j: (i + 1, fails(j)), [0, tf.constant(2, tf.int64)])))
