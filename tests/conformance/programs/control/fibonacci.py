import tensorflow as tf, numpy as np
@tf.function
def fibonacci(n): return tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b), [0, 0, 1])[1]
print([fibonacci(tf.constant(n)).numpy() for n in range(12)])
@tf.function
def collatz(n): return tf.while_loop(lambda n, k: n > 1, lambda n, k: (tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1), k + 1), [n, 0])[1]
print([collatz(tf.constant(n)).numpy() for n in range(1, 12)])
@tf.function
def newton(a): return tf.while_loop(lambda x: tf.abs(x * x - a) > 1e-6 * a, lambda x: (x + a / x) / 2., [a])[0]
a = tf.constant(2., tf.float64)
with tf.GradientTape() as tape:
    tape.watch(a)
    y = newton(a)
print(y.numpy().round(6), tape.gradient(y, a).numpy().round(5))
