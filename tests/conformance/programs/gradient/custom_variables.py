import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
v = tf.Variable(2., name='v')
@tf.custom_gradient
def f(x):
    def grad(d, variables=None):
        print('variables', [w.name for w in variables])
        return d * v, [d * x * 100.]
    return x * v, grad
x = tf.constant(3.)
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
print(t.gradient(y, [x, v]))
@tf.custom_gradient
def lacks(x):
    return x * v, lambda d: d
with tf.GradientTape() as t:
    t.watch(x)
    show('lacks', lambda: lacks(x))
@tf.custom_gradient
def short(x):
    def grad(d, variables=None): return d, []
    return x * v, grad
with tf.GradientTape() as t:
    t.watch(x)
    y = short(x)
show('short', lambda: t.gradient(y, [x, v]))
