import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
v = v1.get_variable('v', [], initializer=v1.zeros_initializer()); s = v1.Session(); s.run(v1.global_variables_initializer())
g = tf.group(v.assign_add(1.), v.assign_add(10.), name='both')
print(g.name, g.type, s.run(g), s.run(v))
a, b = v1.tuple([tf.constant(1.), tf.constant(2.)], control_inputs=[v.assign(7.).op])
print(a.name, b.name, s.run(a), s.run(v))
print(tf.group().name, tf.group().type)
show('bad', lambda: tf.group(3))
p = v1.placeholder(tf.bool, [])
print(s.run(tf.cond(p, lambda: tf.group(v.assign(1.), v.assign(1.)), lambda: tf.group()), {p: True}), s.run(v))
