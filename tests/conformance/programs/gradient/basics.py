import tensorflow as tf, numpy as np
v1 = tf.compat.v1
with tf.Graph().as_default() as graph, v1.Session() as session:
    x = v1.placeholder(tf.float32, [None], name='x')
    y = x ** 2 + tf.sin(x)
    dx, = tf.gradients(y, x)
    ddx, = tf.gradients(dx, [x])
    print(dx, ddx)
    print(*session.run([dx, ddx], {x: [0.5, 1.]}))
    print(tf.gradients(y, [tf.constant(1.)]))
