import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [2], name='x')
a, b = tf.exp(x, name='a'), tf.sin(x, name='b')
c = tf.add(a, b, name='c')
d = tf.multiply(a, c, name='d')
g, = tf.gradients(d, x)
tf.gradients(g, x)
for op in v1.get_default_graph().get_operations(): print(op.name, op.type)
print(v1.Session().run(tf.gradients(g, x), {x: [0.1, 0.2]}))
