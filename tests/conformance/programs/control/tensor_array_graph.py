import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
s = v1.Session()
a = tf.TensorArray(tf.float32, 3)
print(a.flow.dtype, a.element_shape, a.dtype, a.dynamic_size, a.handle)
b = a.write(0, 1.).write(1, 2.)
print(s.run([b.stack(), b.read(1), b.size(), b.gather([1, 1])]), b.stack().shape)
print(s.run(tf.TensorArray(tf.float32, 2, dynamic_size=True).write(5, 1.).size()))
print(s.run(tf.TensorArray(tf.float32, 4).scatter([3, 1], [1., 2.]).stack()))
print(s.run(tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1., 2.]).write(1, [3.]).concat()))
print(s.run(tf.TensorArray(tf.float32, 2).unstack([1., 2.]).identity().read(1)))
print(s.run(tf.TensorArray(tf.float32, 2, infer_shape=False).split([1., 2., 3.], [1, 2]).read(1)))
show('write range', lambda: s.run(a.write(5, 1.).stack())); show('read range', lambda: s.run(a.read(7)))
show('shape', lambda: a.write(0, [1., 2.]).write(1, 1.)); show('size', lambda: tf.TensorArray(tf.float32)); show('empty', lambda: s.run(tf.TensorArray(tf.float32, 0).stack()))
show('unstack', lambda: s.run(tf.TensorArray(tf.float32, 1).unstack([1., 2.]).stack()))
show('flow', lambda: tf.TensorArray(tf.float32, flow=tf.constant(1.))); show('both', lambda: tf.TensorArray(tf.float32, size=3, flow=a.flow))
