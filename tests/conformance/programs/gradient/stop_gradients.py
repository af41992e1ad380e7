import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
a = tf.constant(2.)
b = a * 3.
c = a + b
s = v1.Session()
print(s.run(tf.gradients(c, [a, b])))
print(s.run(tf.gradients(c, [a, b], stop_gradients=[a, b])))
print(s.run(tf.gradients(c, [a, b], stop_gradients=b)))
print(tf.gradients(c * b, [a], stop_gradients=[c, b]))
print(s.run(tf.gradients(tf.stop_gradient(a) * a, a)))
print(tf.gradients(tf.stop_gradient(a), a))
