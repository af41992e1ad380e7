import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
p = v1.placeholder(tf.bool, [], name='p'); x = v1.placeholder(tf.float32, [2], name='x')
s = v1.Session()
y = tf.cond(p, lambda: x * 2., lambda: x + 1.)
print(y, y.op.type)
for value in (True, False): print(s.run(y, {p: value, x: [1., 2.]}))
z = tf.cond(p, lambda: {'a': x, 'b': (x, None)}, lambda: {'a': x - 1., 'b': (x * x, None)}, name='pick')
print(z, s.run([z['a'], z['b'][0]], {p: False, x: [3., 4.]}))
print(tf.cond(p, lambda: tf.zeros([2, 3]), lambda: tf.zeros([2, 4])).shape, tf.cond(p, lambda: tf.zeros([2, 3]), lambda: tf.zeros([2])).shape)
print(s.run(tf.cond(tf.reduce_all(x > 0.), lambda: 1, lambda: 2), {x: [1., -1.]}))
print([(op.name, op.type) for op in v1.get_default_graph().get_operations()][:6])
