import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
s, x = tf.constant('a'), tf.constant(1.)
with tf.GradientTape(persistent=True) as t:
    show('watch', lambda: t.watch(s))
    t.watch(x)
    y = tf.strings.as_string(x)
show('gradient', lambda: t.gradient(y, x))
show('source', lambda: t.gradient(x, s))
