import tensorflow as tf, numpy as np
@tf.function
def f(x):
    return tf.cond(tf.reduce_sum(x) > 0., lambda: x ** 3, lambda: tf.exp(x))
for value in ([1., 2.], [-1., -2.]):
    x = tf.constant(value)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        d = inner.gradient(y, x)
    print(d.numpy().round(5), outer.gradient(d, x).numpy().round(5))
