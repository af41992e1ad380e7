import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
a = tf.TensorArray(tf.float32, 3)
a = a.write(0, 1.).write(1, 2.).write(2, 3.)
print(a.stack().numpy(), a.size().numpy(), a.element_shape, a.dtype, a.dynamic_size)
print(a.read(1).numpy()); show('twice', lambda: a.read(1))
show('range', lambda: a.write(5, 1.)); show('negative', lambda: a.write(-1, 1.)); show('read range', lambda: a.read(7)); show('read negative', lambda: a.read(-1))
show('dtype', lambda: a.write(0, tf.constant(1))); show('shape', lambda: a.write(0, [1., 2.]))
d = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
for i in range(4): d = d.write(i, [float(i), 1.])
print(d.stack().numpy(), d.read(2).numpy(), d.read(2).numpy(), d.gather([3, 0]).numpy(), d.concat().numpy(), d.size().numpy())
print(tf.TensorArray(tf.float32, 3).unstack([[1., 2.], [3., 4.], [5., 6.]]).read(1).numpy())
print(tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], [1., 2., 3.]).stack().numpy())
print(tf.TensorArray(tf.float32, 2, infer_shape=False).split([1., 2., 3.], [1, 2]).read(1).numpy())
show('split', lambda: tf.TensorArray(tf.float32, 2).split([1., 2., 3.], [1, 1])); show('unstack', lambda: tf.TensorArray(tf.float32, 2).unstack([1., 2., 3.]))
show('size', lambda: tf.TensorArray(tf.float32)); show('grad', lambda: a.grad('x'))
print(tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, [1., 2.]).stack().numpy(), tf.TensorArray(tf.float32, 0, element_shape=[2]).stack().numpy())
x = tf.constant([1., 2., 3.])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.TensorArray(tf.float32, 3).unstack(x * x).read(1) * tf.TensorArray(tf.float32, 1).write(0, x[0]).stack()
print(tape.gradient(y, x).numpy())
