import tensorflow as tf, numpy as np
a, b = tf.constant(1.), tf.constant(2.)
with tf.GradientTape(persistent=True) as t:
    t.watch([a, b])
    y = a * b
    z = a + b
print(t.gradient(y, {'a': a, 'b': b}))
print(t.gradient(y, (a, [b])))
print(t.gradient({'y': y, 'z': z}, a), t.gradient([y, [z]], [a]))
import collections
P = collections.namedtuple('P', 'p q')
print(t.gradient(y, P(a, b)))
print(t.gradient(y, []), t.gradient(y, ()))
print(t.gradient([], a))
