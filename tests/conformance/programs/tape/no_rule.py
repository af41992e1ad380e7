import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([3., 1., 3.])
for f in (lambda: tf.unique(x)[0], lambda: tf.floor(x), lambda: tf.truncatemod(x, 2.), lambda: tf.sign(x), lambda: tf.numpy_function(np.sin, [x], tf.float32)):
    with tf.GradientTape() as t:
        t.watch(x)
        y = f()
    show('gradient', lambda: t.gradient(y, x))
