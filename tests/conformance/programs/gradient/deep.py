import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float64, [], name='x')
y = x
for i in range(200): y = tf.sin(y) + 0.1 * y
s = v1.Session()
g, = tf.gradients(y, x)
h, = tf.gradients(g, x)
print(np.round(s.run([y, g, h], {x: 0.3}), 8).tolist())
print(len([op for op in v1.get_default_graph().get_operations() if op.type == 'AddN']) > 0)
