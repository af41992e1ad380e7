import tensorflow as tf, numpy as np
x = tf.constant([1., 2., 3.])
for mode in (lambda f: f, tf.function):
    f = mode(lambda x: tf.map_fn(lambda e: e * e * e, x))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        d = tape.gradient(y, x)
    print(y.numpy(), d.numpy(), outer.gradient(d, x).numpy())
    print([t.numpy() for t in mode(lambda x: tf.map_fn(lambda e: (e[0] * e[1], e[0]), (x, x + 1.)))(x)])
    print(mode(lambda x: tf.map_fn(lambda e: tf.cast(e * 2., tf.int32), x, fn_output_signature=tf.int32))(x).numpy())
    print(mode(lambda x: tf.map_fn(lambda e: tf.fill([2], e), x))(x).numpy())
    print(mode(lambda x: tf.map_fn(lambda e: e + 1., x[:0]))(x).numpy())
    print(mode(lambda x: tf.map_fn(lambda e: {'a': e, 'b': [e > 1., e]}, x, fn_output_signature={'a': tf.float32, 'b': [tf.bool, tf.float32]}))(x)['b'][0].numpy())
    print(mode(lambda: tf.map_fn(lambda e: tf.strings.join([e, '!']), tf.constant(['a', 'b'])))().numpy())
