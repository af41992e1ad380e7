import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [2])
def inner(s): return tf.while_loop(lambda j, t: j < 2, lambda j, t: (j + 1, t * x + s), [0, s])[1]
y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, inner(s)), [0, x])[1]
g = tf.gradients(y, x); h = tf.gradients(g, x)
s = v1.Session()
print(s.run([y, g, h], {x: [.5, 1.]}))
def branch(i, s): return tf.cond(tf.equal(i % 2, 0), lambda: s * x, lambda: tf.while_loop(lambda t: t[0] < 4., lambda t: t + x, [s])[0])
z = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, branch(i, s)), [0, x])[1]
print(s.run([z, tf.gradients(z, x)], {x: [.5, 1.]}))
c = tf.cond(x[0] > 0., lambda: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * s), [0, x])[1], lambda: x)
for value in ([.5, 2.], [-.5, 2.]): print(s.run([c, tf.gradients(c, x)], {x: value}))
