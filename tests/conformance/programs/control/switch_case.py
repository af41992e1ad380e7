import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = tf.constant(3.)
fns = [lambda: x, lambda: x * 2., lambda: x * x]
for i in (0, 1, 2, 5, -1): print(tf.switch_case(tf.constant(i), fns).numpy(), tf.switch_case(tf.constant(i), fns, default=lambda: x - 100.).numpy())
f = tf.function(lambda i, x: tf.switch_case(i, [lambda: x, lambda: x * 2., lambda: x * x], default=lambda: -x))
for i in (0, 1, 2, 5, -1):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(tf.constant(i), x)
    print(y.numpy(), tape.gradient(y, x).numpy())
print(tf.switch_case(tf.constant(1), {1: lambda: 'b', 0: lambda: 'a'}))
show('python index', lambda: tf.switch_case(1, fns))
show('float index', lambda: tf.switch_case(x, fns))
show('keys', lambda: tf.switch_case(tf.constant(1), {1: lambda: 1, 3: lambda: 2}))
show('empty', lambda: tf.switch_case(tf.constant(1), []))
show('no function', lambda: tf.switch_case(tf.constant(1), [1, 2]))
show('key type', lambda: tf.switch_case(tf.constant(1), {'a': lambda: 1}))
