import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x, y = tf.constant([1., 2.]), tf.constant([[3.]])
print(tf.gradients(x, y))
g = tf.gradients(x, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)
print(g)
print([v.tolist() for v in v1.Session().run(g)])
print(tf.gradients(x, y, unconnected_gradients='none'))
show('bad', lambda: tf.gradients(x, y, unconnected_gradients='some'))
show('bad 2', lambda: tf.gradients(x, y, unconnected_gradients=3))
v = v1.get_variable('v', [2])
print(v1.Session().run(tf.gradients(x, v, unconnected_gradients='zero')))
