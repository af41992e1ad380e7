import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
f = tf.recompute_grad(lambda x: x ** 3)
x = tf.constant(2.)
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = f(x)
    dy = inner.gradient(y, x)
print(dy)
show('second', lambda: outer.gradient(dy, x))
