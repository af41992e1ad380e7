import tensorflow as tf, numpy as np
@tf.function
def f(x):
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.sin(s) * x), [tf.constant(0), x])[1]
x = tf.constant([.5, 2.])
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = f(x)
    d = inner.gradient(y, x)
print(y.numpy().round(4), d.numpy().round(4), outer.gradient(d, x).numpy().round(4))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
print(tape.jacobian(y, x).numpy().round(4))
