import tensorflow as tf, numpy as np
np.random.seed(0)
W = tf.Variable(np.random.randn(3, 3).astype(np.float32) * .5); U = tf.Variable(np.random.randn(2, 3).astype(np.float32))
xs = tf.constant(np.random.randn(5, 4, 2).astype(np.float32))
@tf.function
def loss(xs):
    states = tf.scan(lambda h, x: tf.tanh(tf.matmul(h, W) + tf.matmul(x, U)), xs, initializer=tf.zeros([4, 3]))
    return tf.reduce_mean(states[-1] ** 2)
@tf.function
def loop(xs):
    ta = tf.TensorArray(tf.float32, 5).unstack(xs)
    return tf.reduce_mean(tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, W) + tf.matmul(ta.read(i), U))), [0, tf.zeros([4, 3])])[1] ** 2)
for f in (loss, loop):
    with tf.GradientTape() as tape:
        y = f(xs)
    print(y.numpy().round(5), [g.numpy().round(4).tolist() for g in tape.gradient(y, [W, U])])
