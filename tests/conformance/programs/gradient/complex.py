import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1. + 2.j, 3. - 1.j])
s = v1.Session()
for name, f in dict(square=lambda z: z * z, abs=tf.abs, real=tf.math.real, conj=tf.math.conj, exp=tf.exp, angle=tf.math.angle).items():
    show(name, lambda: np.round(s.run(tf.gradients(f(x), x, grad_ys=tf.ones_like(f(x))))[0], 5))
