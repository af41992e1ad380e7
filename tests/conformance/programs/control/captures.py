import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [2], name='x'); c = tf.constant(3., name='c'); y = x * 2.
r = tf.while_loop(lambda i, s: i < c, lambda i, s: (i + 1., s + y * c), [0., x])[1]
z = tf.cond(c > 1., lambda: y + c, lambda: x)
s = v1.Session()
print(s.run([r, z], {x: [1., 2.]}), s.run([r, z], {y: [5., 5.], x: [1., 2.]}), s.run(z, {c: 0., x: [1., 2.]}))
print(s.run(tf.gradients(r + z, [x, y]), {x: [1., 2.]}))
