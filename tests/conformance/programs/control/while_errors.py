import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = v1.placeholder(tf.float32, [2], name='x')
show('shape', lambda: tf.while_loop(lambda a: tf.size(a) < 5, lambda a: tf.concat([a, a], 0), [x]))
show('dtype', lambda: tf.while_loop(lambda a: a[0] < 5, lambda a: tf.cast(a, tf.int32), [x]))
show('length', lambda: tf.while_loop(lambda a, b: a < 5, lambda a, b: a, [1, 2]))
show('invariants', lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a), [0, x], shape_invariants=[tf.TensorShape([])]))
show('list', lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a), [0, x], shape_invariants=[[], [3]]))
show('rank', lambda: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a[None]), [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]))
show('callable', lambda: tf.while_loop(None, lambda a: a, [x]))
show('py func', lambda: tf.while_loop(lambda a: a[0] < 5, lambda a: v1.py_func(np.square, [a], tf.float32), [x]))
