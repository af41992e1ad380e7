import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
v = v1.get_variable('v', initializer=[[1., 2.], [3., 4.]])
g, = tf.gradients(tf.reduce_sum(tf.gather(v, [1, 1])), v)
print(type(g).__name__)
s = v1.Session()
s.run(v1.global_variables_initializer())
print(s.run(tf.convert_to_tensor(g)))
print(s.run(v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.gather(v, [1, 1])))))
print(s.run(v))
