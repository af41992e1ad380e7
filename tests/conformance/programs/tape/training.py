import tensorflow as tf, numpy as np
w, b = tf.Variable([[0.5], [0.3]]), tf.Variable([0.])
data, labels = tf.constant([[1., 2.], [3., 4.], [5., 6.]]), tf.constant([[1.], [2.], [3.]])
for step in range(3):
    with tf.GradientTape() as t:
        loss = tf.reduce_mean((tf.matmul(data, w) + b - labels) ** 2)
    gw, gb = t.gradient(loss, [w, b])
    w.assign_sub(0.01 * gw)
    b.assign_sub(0.01 * gb)
    print(step, loss.numpy(), w.numpy().tolist(), b.numpy().tolist())
