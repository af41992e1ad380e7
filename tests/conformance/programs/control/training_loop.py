import tensorflow as tf, numpy as np
v = tf.Variable([1., 2.])
@tf.function
def train(n):
    def body(i):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        v.assign_sub(.25 * tape.gradient(loss, v))
        return (i + 1,)
    tf.while_loop(lambda i: i < n, body, [0])
    return v.read_value()
print(train(tf.constant(3)).numpy(), train(tf.constant(0)).numpy())
@tf.function
def search(x):
    ta = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2])
    def body(i, ta, x):
        x = x * x / tf.reduce_sum(x * x)
        return i + 1, ta.write(ta.size(), x), x
    i, ta, x = tf.while_loop(lambda i, ta, x: tf.logical_and(i < 10, x[0] < .95), body, [0, ta, x])
    return ta.stack(), i
print([t.numpy().tolist() for t in search(tf.constant([2., 1.]))])
