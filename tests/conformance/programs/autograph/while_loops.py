import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
show('collatz', collatz, tf.constant(27)); show('python', collatz, 6)
@tf.function
def gcd(a, b):
    while b > 0:
        a, b = b, a % b
    return a
show('gcd', gcd, tf.constant(84), tf.constant(36))
@tf.function
def power(x, n):
    y = tf.constant(1.)
    i = 0
    while i < n:
        y *= x
        i += 1
    return y, i
show('tensor', power, tf.constant(2.), tf.constant(5)); show('python', power, tf.constant(2.), 5)
@tf.function
def never(x):
    while x < 0:
        x += 1
    return x
show('never', never, tf.constant(3))
@tf.function
def two(x):
    while x < 100:
        y = x * 2
        while y < 50:
            y = y * 2
        x = x + y
    return x
show('two', two, tf.constant(1))
