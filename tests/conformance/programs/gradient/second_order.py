import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float64, [], name='x')
s = v1.Session()
for name, f in dict(exp=tf.exp, tanh=tf.tanh, sin=tf.sin, log=tf.math.log, sqrt=tf.sqrt, sigmoid=tf.sigmoid, cube=lambda v: v ** 3, inverse=lambda v: 1. / v).items():
    y = f(x)
    found = []
    for order in range(4):
        y, = tf.gradients(y, x)
        found.append(round(float(s.run(y, {x: 0.7})), 6))
    print(name, found)
