import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [2], name='x')
h = tf.tanh(x)
a, b, c = h * 2., h + 1., tf.exp(h)
g, = tf.gradients([a, b, c], x)
print(g.op.type, g.name)
for op in v1.get_default_graph().get_operations():
    if op.name.startswith('gradients/') and op.type in ('AddN', 'TanhGrad', 'Mul', 'Sum', 'Reshape', 'Fill'): print(op.name, op.type, [i.name for i in op.inputs])
print(v1.Session().run(g, {x: [0., 1.]}))
