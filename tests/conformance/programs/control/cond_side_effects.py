import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
p = v1.placeholder(tf.bool, [])
v = v1.get_variable('v', [], initializer=v1.zeros_initializer())
s = v1.Session(); s.run(v1.global_variables_initializer())
up = tf.cond(p, lambda: v.assign_add(1.), lambda: v.assign_add(10.))
for value in (True, False, True): print(s.run(up, {p: value}), s.run(v))
op = tf.cond(p, lambda: tf.group(v.assign(100.)), lambda: tf.no_op())
print(s.run(op, {p: False}), s.run(v), s.run(op, {p: True}), s.run(v))
log = []
def one(): return v1.py_func(lambda: log.append(1) or np.float32(1), [], tf.float32)
def unused():
    v1.py_func(lambda: log.append('unused') or np.float32(1), [], tf.float32)
    return tf.constant(5.)
def after():
    with tf.control_dependencies([v1.py_func(lambda: log.append('after') or np.float32(1), [], tf.float32)]):
        return tf.constant(6.)
print(s.run(tf.cond(p, one, lambda: 2.), {p: True}), s.run(tf.cond(p, one, lambda: 2.), {p: False}), log)
print(s.run(tf.cond(p, unused, lambda: 2.), {p: True}), log)
print(s.run(tf.cond(p, after, lambda: 2.), {p: True}), log)
outside = v1.py_func(lambda: log.append('outside') or np.float32(1), [], tf.float32)
print(s.run(tf.cond(p, lambda: outside + 1., lambda: 2.), {p: False}), log)
