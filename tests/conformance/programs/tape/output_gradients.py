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
    z = x * 3.
print(t.gradient(y, x, output_gradients=tf.constant([1., 10.])))
show('none beside', lambda: t.gradient([y, z], x, output_gradients=[tf.constant([1., 10.]), None]))
print(t.gradient(y, x, output_gradients=[[1., 10.]]))
print(t.gradient(y, x, output_gradients=np.array([1., 10.], np.float32)))
print(t.gradient({'y': y}, x, output_gradients={'y': tf.constant([1., 100.])}))
show('shape', lambda: t.gradient(y, x, output_gradients=tf.constant([1., 1., 1.])))
show('dtype', lambda: t.gradient(y, x, output_gradients=tf.constant([1, 1])))
show('count', lambda: t.gradient([y, z], x, output_gradients=[tf.constant([1., 10.])]))
