import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
v = v1.get_variable('v', [2], initializer=v1.ones_initializer()); w = v1.get_variable('w', [2, 2], initializer=v1.ones_initializer())
s = v1.Session(); s.run(v1.global_variables_initializer())
y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(tf.linalg.matvec(w, a) + v)), [0, tf.zeros([2])])[1]
loss = tf.reduce_sum(y)
print([np.round(g, 4) for g in s.run(tf.gradients(loss, [v, w]))])
train = v1.train.GradientDescentOptimizer(.1).minimize(loss)
s.run(train)
print(np.round(s.run(v), 4), np.round(s.run(loss), 4))
i = tf.while_loop(lambda i: i < 3, lambda i: tf.tuple([i + 1], control_inputs=[v.assign_add([1., 1.]).op])[0], [0])
print(s.run(i), np.round(s.run(v), 3))
