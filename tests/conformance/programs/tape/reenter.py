import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
t = tf.GradientTape()
x = tf.constant(2.)
with t:
    t.watch(x)
    y = x * x
    def again():
        with t: pass
    show('active', again)
with t:
    z = y * x
print(t.gradient(z, x))
