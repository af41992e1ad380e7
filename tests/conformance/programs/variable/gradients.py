import tensorflow as tf, numpy as np

v1 = tf.compat.v1


v = tf.Variable([1., 2.])
w = tf.Variable(3., trainable=False)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(v * v) * w
print(tape.gradient(loss, [v, w]), [x.name for x in tape.watched_variables()])
with tf.GradientTape() as tape:
    v.assign([3., 4.])
    loss = tf.reduce_sum(v * v)
print(tape.gradient(loss, v))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.gather(v, [0, 0]))
print(type(tape.gradient(loss, v)).__name__)
with tf.GradientTape() as tape:
    loss = v.sparse_read([1]) * 2.
print(tf.convert_to_tensor(tape.gradient(loss, v)))
with tf.Graph().as_default():
    a = v1.get_variable('a', initializer=[1., 2.])
    g, = tf.gradients(tf.reduce_sum(a ** 2), [a])
    by_read, = tf.gradients(tf.reduce_sum(a.read_value() ** 2), [a])
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print(sess.run([g, by_read]))
