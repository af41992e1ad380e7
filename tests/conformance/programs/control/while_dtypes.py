import tensorflow as tf, numpy as np
f = tf.function(lambda: tf.while_loop(lambda i, a, b, c: i < 2, lambda i, a, b, c: (i + tf.constant(1, tf.int64), tf.strings.join([a, 'x']), tf.logical_not(b), c * (1 + 1j)), [tf.constant(0, tf.int64), tf.constant('s'), tf.constant([True, False]), tf.constant(1j, tf.complex64)]))
print([(t.dtype, t.numpy()) for t in f()])
g = tf.function(lambda x: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, x])[1])
for dtype in (tf.float16, tf.float64, tf.complex128):
    x = tf.cast([1.5, 2.], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = g(x)
    print(y.numpy(), tape.gradient(y, x).numpy())
