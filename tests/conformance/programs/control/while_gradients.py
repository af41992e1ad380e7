import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, []); n = v1.placeholder(tf.int32, []); w = v1.placeholder(tf.float32, [])
_, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x + w), [0, x])
g = tf.gradients(y, [x, w]); h = tf.gradients(g[0], [x, w])
s = v1.Session()
for k in (0, 1, 5): print(s.run([y, g, h], {x: 2., w: 3., n: k}))
stopped = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), [0, x], back_prop=False)[1]
print(tf.gradients(stopped, x))
grow = tf.while_loop(lambda a: a < 100., lambda a: a * x, [x])
print(s.run([grow, tf.gradients(grow, x)], {x: 3.}))
a, b = tf.while_loop(lambda a, b: b < 5., lambda a, b: (a * b, b + x), [x, x])
print(s.run([a, b, tf.gradients(a, x), tf.gradients(b, x), tf.gradients([a, b], x)], {x: 2.}))
