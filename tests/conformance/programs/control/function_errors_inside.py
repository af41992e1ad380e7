import tensorflow as tf, numpy as np
def boom(x): raise ValueError('bang')
def told(label, f):
    try:
        f()
    except Exception as e:
        lines = str(e).splitlines()
        print(label, type(e).__name__, lines[0], [line.strip() for line in lines if 'node' in line and 'at 0x' not in line][:2])
one = tf.constant(1.)
@tf.function
def cond(x): return tf.cond(x > 0., lambda: tf.numpy_function(boom, [x], tf.float32), lambda: x)
@tf.function
def loop(x): return tf.while_loop(lambda i: i < 3, lambda i: tf.ensure_shape(tf.numpy_function(boom, [i], tf.int32), []), [tf.constant(0)])
@tf.function
def nested(x): return tf.cond(x > 0., lambda: tf.cond(x > 0., lambda: tf.numpy_function(boom, [x], tf.float32), lambda: x), lambda: x)
@tf.function
def switch(x): return tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: tf.numpy_function(boom, [x], tf.float32)])
@tf.function
def mapped(x): return tf.map_fn(lambda e: tf.numpy_function(boom, [e], tf.float32), x[None])
for f in (cond, loop, nested, switch, mapped): told(f.python_function.__name__, lambda: f(one))
