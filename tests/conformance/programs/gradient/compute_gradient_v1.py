import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1., 2.])
y = x ** 2
with v1.Session() as s:
    a, n = v1.test.compute_gradient(x, [2], y, [2], x_init_value=np.array([1.5, 2.], np.float32))
    print(a, np.round(n, 1))
    print(v1.test.compute_gradient_error(x, [2], y, [2]) < 1e-2)
    z = tf.reduce_sum(y)
    a, n = v1.test.compute_gradient(x, [2], z, [], x_init_value=np.array([3., 4.], np.float32))
    print(a, np.round(n, 1))
    w = tf.constant([5., 6.])
    (a, n), (b, m) = v1.test.compute_gradient([x, w], [[2], [2]], x * w, [2], x_init_value=[np.array([1., 2.], np.float32), np.array([5., 6.], np.float32)])
    print(a, b)
show('no session', lambda: v1.test.compute_gradient(x, [2], y, [2]))
