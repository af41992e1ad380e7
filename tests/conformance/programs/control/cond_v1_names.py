import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_v2_behavior()
p = v1.placeholder(tf.bool, []); x = v1.placeholder(tf.float32, [2])
print(tf.cond(p, lambda: x, lambda: x + 1.).name, v1.cond(p, lambda: [x], lambda: [x + 1.]).name)
print([t.name for t in v1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.), [0, x])])
s = v1.Session()
print(s.run(tf.cond(p, lambda: x, lambda: x + 1.), {p: False, x: [1., 2.]}), v1.control_flow_v2_enabled())
