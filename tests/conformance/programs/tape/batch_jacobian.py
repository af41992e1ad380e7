import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([[1., 2.], [3., 4.]])
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * x
    z = tf.stack([x, x * 2.], 2)
    w = tf.reduce_sum(x)
print(t.batch_jacobian(y, x))
print(t.batch_jacobian(z, x).shape)
print(t.batch_jacobian(y, x, experimental_use_pfor=False))
show('rank', lambda: t.batch_jacobian(w, x))
show('size', lambda: t.batch_jacobian(tf.ones([3, 2]), x))
show('unconnected', lambda: t.batch_jacobian(tf.ones([2, 2]), x))
show('unconnected zero', lambda: t.batch_jacobian(tf.ones([2, 2]), x, unconnected_gradients='zero'))
