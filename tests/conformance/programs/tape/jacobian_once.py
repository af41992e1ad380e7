import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1., 2.])
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x
print(t.jacobian(y, x))
show('again', lambda: t.jacobian(y, x))
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x
show('without pfor', lambda: t.jacobian(y, x, experimental_use_pfor=False))
