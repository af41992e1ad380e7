import tensorflow as tf, numpy as np
x = tf.constant([1., 2., 3.])
for mode in (lambda f: f, tf.function):
    for f in (lambda x: tf.foldl(lambda a, e: a * e + e, x), lambda x: tf.foldr(lambda a, e: a * e + e, x),
              lambda x: tf.foldl(lambda a, e: a - e, x, initializer=tf.constant(10.)), lambda x: tf.foldr(lambda a, e: a / e, x, initializer=tf.constant(12.))):
        f = mode(f)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        print(y.numpy().round(5), tape.gradient(y, x).numpy().round(5))
    print(mode(lambda x: tf.foldl(lambda a, e: a + e[0] * e[1], (x, x), initializer=tf.constant(0.)))(x).numpy())
