import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant(2.)
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
    y = x * x
show('none', lambda: t.gradient(None, x))
show('number', lambda: t.gradient(3., x))
show('number source', lambda: t.gradient(y, 3.))
show('array source', lambda: t.gradient(y, np.ones(2)))
show('string source', lambda: t.gradient(y, 'x'))
show('none source', lambda: t.gradient(y, None))
show('list with none', lambda: t.gradient(y, [x, None]))
show('unconnected', lambda: t.gradient(y, x, unconnected_gradients='nonsense'))
show('seeds', lambda: t.gradient(y, x, output_gradients=[1., 2.]))
show('seed', lambda: t.gradient(y, x, output_gradients=5.))
