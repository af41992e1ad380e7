import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x, y = v1.placeholder(tf.float32, [], name='x'), v1.placeholder(tf.float32, [], name='y')
z = x * y + tf.exp(x)
g = tf.gradients([z, x * 2.], [x, y])
print(g)
print(v1.Session().run(g, {x: 1., y: 3.}))
print(tf.gradients(z, x), tf.gradients([z], (x, y)))
