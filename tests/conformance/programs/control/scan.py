import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = tf.constant([1., 2., 3., 4.])
for mode in (lambda f: f, tf.function):
    for f in (lambda x: tf.scan(lambda a, e: a * e, x), lambda x: tf.scan(lambda a, e: a * e + 1., x, initializer=tf.constant(2.)),
              lambda x: tf.scan(lambda a, e: a + e * a, x, reverse=True), lambda x: tf.scan(lambda a, e: a * e, x, initializer=tf.constant(1.), reverse=True)):
        f = mode(f)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            d = tape.gradient(y, x)
        print(y.numpy(), d.numpy(), outer.gradient(d, x).numpy())
    a, b = mode(lambda x: tf.scan(lambda a, e: (a[0] + e[0], a[1] * e[1]), (x, x + 1.)))(x)
    print(a.numpy(), b.numpy())
    a, b = mode(lambda x: tf.scan(lambda a, e: (a[1], a[0] + a[1]), x, initializer=(0., 1.)))(x)
    print(a.numpy(), b.numpy())
show('structure', lambda: tf.scan(lambda a, e: (a, e), x))
