import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = v1.placeholder(tf.float32, [None, 2]); y = tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)
print(y.name, y.shape)
s = v1.Session()
print(s.run([y, tf.gradients(y, x)], {x: [[1., 2.], [3., 4.]]}))
z = tf.map_fn(lambda row: v1.py_func(lambda r: r[::-1].copy(), [row], tf.float32), x)
print(z.shape, s.run(z, {x: [[1., 2.], [3., 4.]]}))
show('empty', lambda: s.run(y, {x: np.zeros([0, 2], np.float32)}))
print([(op.type, op.name) for op in v1.get_default_graph().get_operations() if op.name.startswith('map/')][:14])
