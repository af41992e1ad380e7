import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
i = v1.placeholder(tf.int32, []); x = v1.placeholder(tf.float32, [2])
y = tf.switch_case(i, [lambda: x, lambda: x * x, lambda: x ** 3])
g = tf.gradients(y, x); h = tf.gradients(g, x)
print(y, y.shape)
s = v1.Session()
for k in range(4): print(s.run([y, g, h], {i: k, x: [1., 2.]}))
show('dtype', lambda: tf.switch_case(i, [lambda: 1, lambda: 2.]))
print(sorted({op.type for op in v1.get_default_graph().get_operations()} & {'Case', 'StatelessCase'}))
