import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1., 2.])
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * x
    z = tf.reduce_sum(x ** 3)
    m = tf.reshape(x, [2, 1]) * tf.constant([[1., 2., 3.]])
print(t.jacobian(y, x))
print(t.jacobian(z, x))
print(t.jacobian(m, x).shape)
print(t.jacobian(y, [x, x]))
print(t.jacobian(y, {'x': x}))
print(t.jacobian(y, x, experimental_use_pfor=False))
u = tf.constant([1.])
print(t.jacobian(y, u))
show('zero', lambda: t.jacobian(y, u, unconnected_gradients=tf.UnconnectedGradients.ZERO))
show('list', lambda: t.jacobian([y, z], x))
