import tensorflow as tf, numpy as np
v, w, u = tf.Variable(1., name='v'), tf.Variable(2., name='w'), tf.Variable(3., name='u', trainable=False)
with tf.GradientTape() as t:
    y = w * v * u
    print([x.name for x in t.watched_variables()])
    t.watch(u)
    z = u * v
print([x.name for x in t.watched_variables()])
print(t.gradient(z, [v, u]))
