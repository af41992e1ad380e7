import tensorflow as tf, numpy as np
@tf.function
def square(x): return x * x
x = tf.constant([1., 3.])
f = tf.function(lambda x: tf.cond(x[0] > 0., lambda: square(x) * 2., lambda: x))
g = tf.function(lambda x: tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, square(s) + x), [0, x])[1])
for fn in (f, g):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fn(x)
        d = tape.gradient(y, x)
    print(y.numpy(), d.numpy(), outer.gradient(d, x).numpy())
