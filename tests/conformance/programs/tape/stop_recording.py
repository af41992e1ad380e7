import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant(2.)
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x
    with t.stop_recording():
        z = y * y
    w = z * x
print(t.gradient(w, x))
t = tf.GradientTape()
def stop():
    with t.stop_recording(): pass
show('not recording', stop)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * x
    with t.stop_recording():
        print(t.gradient(y, x))
