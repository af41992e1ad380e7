import tensorflow as tf, numpy as np
import gc, weakref
x = tf.constant(2.)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * x
r = weakref.ref(t)
del t
gc.collect()
print(r() is None)
