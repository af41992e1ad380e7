import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1., 2.])
y = tf.reduce_sum(x ** 3) + x[0] * x[1]
h = tf.hessians(y, x)
print(h)
print(v1.Session().run(h))
show('two', lambda: [v.tolist() for v in v1.Session().run(tf.hessians(y, [x, x]))])
m = tf.constant([[1., 2.], [3., 4.]])
print(v1.Session().run(tf.hessians(tf.reduce_sum(m ** 3), m))[0].shape)
show('unconnected', lambda: tf.hessians(tf.constant(1.), x))
show('vector y', lambda: v1.Session().run(tf.hessians(x ** 2, x)))
