import tensorflow as tf, numpy as np
@tf.function
def f(x):
    def body(i, s):
        with tf.GradientTape() as tape:
            tape.watch(s)
            y = s * s * s
        return i + 1, tape.gradient(y, s)
    return tf.while_loop(lambda i, s: i < 2, body, [0, x])[1]
x = tf.constant(.5)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = f(x)
print(y.numpy(), tape.gradient(y, x).numpy())
@tf.function
def inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(x > 0., lambda: x ** 3, lambda: x)
    return tape.gradient(y, x)
print(inside(tf.constant(2.)).numpy(), inside(tf.constant(-2.)).numpy())
@tf.function
def looped(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, x])[1]
    return tape.gradient(y, x)
print(looped(tf.constant(2.)).numpy())
