import tensorflow as tf, numpy as np
x = tf.constant([[1., 2.], [3., 4.]])
f = tf.function(lambda x: tf.map_fn(lambda row: tf.map_fn(lambda e: e * e, row), x))
g = tf.function(lambda x: tf.map_fn(lambda row: tf.scan(lambda a, e: a * e, row), x))
h = tf.function(lambda x: tf.map_fn(lambda row: tf.cond(row[0] > 2., lambda: row * 2., lambda: row * row), x))
for fn in (f, g, h):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(x)
    print(y.numpy().tolist(), tape.gradient(y, x).numpy().tolist())
