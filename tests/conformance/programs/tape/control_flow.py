import tensorflow as tf, numpy as np
x = tf.constant(2.)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x
    for i in range(3):
        if y < 10.: y = y * x
    z = tf.cond(x > 1., lambda: x ** 3, lambda: x)
    w = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]
    m = tf.map_fn(lambda e: e * x, tf.constant([1., 2.]))
print(t.gradient(y, x), t.gradient(z, x), t.gradient(w, x), t.gradient(m, x))
