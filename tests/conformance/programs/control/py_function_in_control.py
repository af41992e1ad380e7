import tensorflow as tf, numpy as np
x = tf.constant([1., 2.])
log = []
def cube(e):
    log.append(1)
    return e * e * e
def py(e): return tf.py_function(cube, [e], tf.float32)
def differentiated(label, f):
    del log[:]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    print(label, y.numpy(), tape.gradient(y, x).numpy(), len(log))
differentiated('cond', lambda x: tf.cond(x[0] > 0., lambda: py(x), lambda: x))
differentiated('while', lambda x: tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, py(s)), [0, x])[1])
differentiated('map', lambda x: tf.map_fn(py, x))
differentiated('cond in function', tf.function(lambda x: tf.cond(x[0] > 0., lambda: py(x), lambda: x)))
