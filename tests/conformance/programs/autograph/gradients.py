import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
x = tf.Variable(3.)
def gradient(f, *args):
    with tf.GradientTape() as tape:
        y = f(x, *args)
    return y.numpy(), None if (g := tape.gradient(y, x)) is None else g.numpy()
@tf.function
def branch(x):
    if x > 2:
        y = x * x
    else:
        y = -x
    return y
show('branch', gradient, branch); x.assign(1.); show('branch', gradient, branch); x.assign(3.)
@tf.function
def loop(x, n):
    y = tf.constant(1.)
    for _ in tf.range(n):
        y *= x
    return y
show('loop', gradient, loop, tf.constant(4)); show('zero', gradient, loop, tf.constant(0))
@tf.function
def early(x, limit):
    y = x
    while y < 1000.:
        y = y * x
        if y > limit:
            break
    return y
show('break', gradient, early, tf.constant(20.))
@tf.function
def over(xs):
    s = 0.
    for v in xs:
        if v > 0.:
            s += v * x
    return s
with tf.GradientTape() as tape:
    y = over(tf.constant([1., -2., 3.]))
print(y.numpy(), tape.gradient(y, x).numpy())
@tf.function
def second(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x
            if x > 0.:
                for _ in tf.range(2):
                    y = y * x
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)
show('second', second, tf.constant(2.))
