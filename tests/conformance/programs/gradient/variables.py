import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
v = v1.get_variable('v', initializer=[1., 2.])
w = v1.get_variable('w', initializer=3., use_resource=True)
loss = tf.reduce_sum(v * v) * w
g = tf.gradients(loss, [v, w])
print(g)
s = v1.Session()
s.run(v1.global_variables_initializer())
print(s.run(g))
g2 = tf.gradients(loss, v1.trainable_variables())
print(s.run(g2))
print(tf.gradients(loss, v1.global_variables('nothing')))
