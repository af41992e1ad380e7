import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
p = v1.placeholder(tf.bool, []); x = v1.placeholder(tf.float32, [2]); w = v1.placeholder(tf.float32, [])
y = tf.cond(p, lambda: x * x * w, lambda: x ** 3)
g = tf.gradients(y, [x, w])
h = tf.gradients(g[0], [x, w])
s = v1.Session()
for value in (True, False): print(s.run([y, g, h], {p: value, x: [1., 2.], w: 3.}))
print(tf.gradients(tf.cond(p, lambda: tf.constant(1.), lambda: tf.constant(2.)), x))
