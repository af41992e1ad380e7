import tensorflow as tf, numpy as np
v = tf.Variable(2.)
@tf.function
def f(x):
    return tf.cond(x > 0., lambda: v * x, lambda: v + x)
for value in (3., -3.):
    with tf.GradientTape() as tape:
        y = f(tf.constant(value))
    print(y.numpy(), tape.gradient(y, v).numpy())
@tf.function
def g(x):
    return tf.cond(x > 0., lambda: tf.cond(x > 10., lambda: x * x, lambda: x * 3.), lambda: -x)
for value in (20., 5., -5.):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = g(x)
    print(y.numpy(), tape.gradient(y, x).numpy())
print(sorted({op.type for op in g.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.get_operations()}))
@tf.function
def unused(x):
    def branch():
        tf.numpy_function(lambda: log.append('runs'), [], [])
        return x
    return tf.cond(x > 0., branch, lambda: -x)
log = []
print(unused(tf.constant(1.)).numpy(), log)
