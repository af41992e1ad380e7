import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = v1.placeholder(tf.float32, [2], name='x')
y = x ** 3
s = v1.Session()
print(s.run(tf.gradients(y, x, grad_ys=tf.constant([1., 10.])), {x: [1., 2.]}))
print(s.run(tf.gradients([y, x], x, grad_ys=[None, tf.constant([5., 5.])]), {x: [1., 2.]}))
print(s.run(tf.gradients(y, x, grad_ys=[[1., 10.]]), {x: [1., 2.]}))
show('length', lambda: tf.gradients(y, x, grad_ys=[None, None]))
show('dtype', lambda: tf.gradients(y, x, grad_ys=tf.constant([1, 1])))
show('shape', lambda: tf.gradients(y, x, grad_ys=tf.constant([1., 1., 1.])))
show('complex grad of real', lambda: tf.gradients(y, x, grad_ys=tf.constant([1j, 1j])))
