import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = v1.placeholder(tf.float32, [])
y = tf.case([(x > 10., lambda: x * 2.), (x > 5., lambda: x * x)], default=lambda: -x)
g, = tf.gradients(y, x)
s = v1.Session()
for value in (20., 6., 1.): print(s.run([y, g], {x: value}))
z = tf.case([(x > 10., lambda: x * 2.), (x > 5., lambda: x * x)], exclusive=True, default=lambda: x, name='which')
print(z.name)
show('exclusive', lambda: s.run(z, {x: 20.}))
print(s.run(z, {x: 6.}))
