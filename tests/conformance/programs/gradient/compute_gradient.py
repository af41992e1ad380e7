import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
def f(x): return x ** 2
analytic, numeric = tf.test.compute_gradient(f, [np.array([1., 2.])])
print(analytic, [np.round(n, 4) for n in numeric])
analytic, numeric = tf.test.compute_gradient(lambda a, b: tf.matmul(a, b), [np.array([[1., 2.]]), np.array([[3.], [4.]])])
print([a.tolist() for a in analytic], [np.round(n, 3).tolist() for n in numeric])
analytic, numeric = tf.test.compute_gradient(lambda x: tf.reduce_sum(x * x), [tf.constant([1., 3.])], delta=1e-2)
print(analytic, [np.round(n, 1) for n in numeric])
show('not list', lambda: tf.test.compute_gradient(f, tf.constant(1.)))
show('int', lambda: tf.test.compute_gradient(f, [tf.constant(1)]))
analytic, numeric = tf.test.compute_gradient(lambda x: x * x, [np.array([1 + 2j])])
print(np.round(analytic, 4), np.round(numeric, 4))
