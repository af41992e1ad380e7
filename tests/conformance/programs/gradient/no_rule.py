import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([3., 1., 2.])
show('floor', lambda: tf.gradients(tf.floor(x), x))
show('argmax', lambda: tf.gradients(tf.argmax(x), x))
show('round', lambda: tf.gradients(tf.round(x) * x, x))
show('sign', lambda: v1.Session().run(tf.gradients(tf.sign(x) * x, x)))
show('cast', lambda: tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x))
show('numpy_function', lambda: tf.gradients(tf.numpy_function(np.sin, [x], tf.float32), x))
show('py_func', lambda: tf.gradients(v1.py_func(np.sin, [x], tf.float32), x))
show('py_func beside', lambda: v1.Session().run(tf.gradients(tf.stop_gradient(tf.numpy_function(lambda v: v * 2, [x], tf.float32)) * x, x)))
