import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
v = tf.Variable(3.)
@tf.function
def f(x):
    return x * x * v
x = tf.constant(2.)
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
print([g.numpy() for g in t.gradient(y, [x, v])])
@tf.function
def train():
    with tf.GradientTape() as t:
        loss = (v - 1.) ** 2
    g = t.gradient(loss, v)
    v.assign_sub(0.1 * g)
    return loss
print([round(float(train()), 4) for _ in range(3)], round(float(v), 4))
with tf.GradientTape() as t2:
    t2.watch(x)
    with tf.GradientTape() as t1:
        t1.watch(x)
        y = f(x)
    g = t1.gradient(y, x)
print(t2.gradient(g, x).numpy())
@tf.function
def symbolic(x):
    return tf.gradients(x ** 3, x)[0]
show('tf.gradients', symbolic, tf.constant(2.))
c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
with tf.GradientTape() as t:
    t.watch(x)
    y = c(x)
print(t.gradient(y, x).numpy())
