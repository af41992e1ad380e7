import tensorflow as tf, numpy as np
@tf.function
def f(x): return {'a': x * 2., 'b': [x * 3., tf.cast(x, tf.int32)]}
x = tf.constant(2.)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = f(x)
print(t.gradient(y['a'], x), t.gradient(y['b'][0], x), t.gradient(y['b'][1], x), t.gradient([y['a'], y['b'][0]], x))
