import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x, y = tf.constant([1., 2.]), tf.constant(3.)
a, b = tf.identity_n([x * y, y])
s = v1.Session()
print([v.tolist() for v in s.run(tf.gradients(a, [x, y]))], [v.tolist() for v in s.run(tf.gradients([a, b], [x, y]))])
print(tf.gradients(b, x))
u, w = tf.unstack(tf.stack([x, x * 2.]))
print(s.run(tf.gradients(w, x)), [t.name for t in tf.gradients(w, x)])
parts = tf.split(tf.concat([x, x], 0), 2)
print(s.run(tf.gradients(parts[1], x)))
