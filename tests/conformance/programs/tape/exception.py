import tensorflow as tf, numpy as np
x = tf.constant(2.)
try:
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
        raise KeyError('a')
except KeyError as e:
    print('out', e)
print(t.gradient(y, x))
with tf.GradientTape() as s:
    s.watch(x)
    z = x * 5.
print(s.gradient(z, x))
