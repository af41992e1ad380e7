import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant(3.)
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x
    print(t.gradient(y, x))
    z = x * 2.
show('after', lambda: t.gradient(z, x))
