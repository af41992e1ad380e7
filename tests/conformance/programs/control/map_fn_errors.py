import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = tf.constant([1., 2., 3.])
show('scalar', lambda: tf.map_fn(lambda e: e, tf.constant(1.)))
show('empty', lambda: tf.map_fn(lambda e: e, []))
show('structure', lambda: tf.map_fn(lambda e: (e, e), x))
show('dtype', lambda: tf.map_fn(lambda e: tf.cast(e, tf.int32), x))
