import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
s = v1.Session()
def f(a, b): return a * a * b
x, y = v1.placeholder(tf.float32, [], name='x'), tf.constant(3.)
z = tf.py_function(f, [x, y], tf.float32)
g = tf.gradients(z, [x, y])
print(s.run(g, {x: 2.}))
print(s.run(tf.gradients(z * z, [x]), {x: 2.}))
two = tf.py_function(lambda a: [a * 2., a * a], [x], [tf.float32, tf.float32])
print(s.run(tf.gradients(two[1], x), {x: 3.}), s.run(tf.gradients(two, x), {x: 3.}))
