import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
a, b = tf.constant(1.), tf.constant(2.)
v = tf.Variable(3.)
with tf.GradientTape(watch_accessed_variables=False) as t:
    t.watch([a, (b, v)])
    y = a * b * v
print(t.gradient(y, [a, b, v]))
with tf.GradientTape(watch_accessed_variables=False) as t:
    y = v * a
print(t.gradient(y, v), t.watched_variables())
t = tf.GradientTape()
t.__enter__()
show('number', lambda: t.watch(3.))
show('string', lambda: t.watch('x'))
show('array', lambda: t.watch(np.ones(2)))
show('list', lambda: t.watch([a, 1.]))
show('int', lambda: t.watch(tf.constant(1)))
show('none', lambda: t.watch(None))
