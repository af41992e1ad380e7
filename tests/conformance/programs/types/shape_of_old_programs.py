import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_v2_behavior()
x = v1.placeholder(tf.float32, [None, 3])
print(x.shape, x.shape[1].value, x.get_shape()[0], x.shape[0].value, repr(x.shape), x.shape.as_list(), x.get_shape().as_list())
w = v1.get_variable('w', [x.shape[1], 4])
y = tf.matmul(x, w)
print(y.shape, y.shape[1] == 4, y.shape[0] == 4, [d.value for d in y.shape], y.shape[1] * 2, int(y.shape[1]), y.shape.ndims)
z = tf.reshape(y, [-1, y.shape[1] * 1])
print(z.shape, tf.zeros([y.shape[1], 2]).shape, tf.reduce_sum(y, 1).shape, tf.concat([x, y], 1).shape)
r = v1.py_func(lambda a: a, [x], tf.float32)
r.set_shape(x.shape)
print(r.shape, x.shape.merge_with([5, None]), x.shape.is_compatible_with([7, 3]))
with v1.Session() as s:
    s.run(v1.global_variables_initializer())
    print(s.run(z, {x: np.ones([2, 3], np.float32)}).shape)
