import tensorflow as tf, numpy as np
x = tf.constant([[1., 2.], [3., 4.]])
print(tf.vectorized_map(lambda r: tf.reduce_sum(r), x).numpy())
print(tf.nest.map_structure(lambda t: t.numpy().tolist(), tf.vectorized_map(lambda r: {'a': r * r, 'b': r[0] > 2.}, x)))
f = tf.function(lambda x: tf.vectorized_map(lambda r: r * tf.reduce_max(r), x))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
print(y.numpy(), tape.gradient(y, x).numpy())
print(tf.vectorized_map(lambda t: t[0] * t[1], (x, x + 1.)).numpy())
