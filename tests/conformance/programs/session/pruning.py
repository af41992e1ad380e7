import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    ran = []
    a = v1.py_func(lambda: ran.append('a') or 1., [], tf.float64)
    b = v1.py_func(lambda: ran.append('b') or 1., [], tf.float64, stateful=False)
    c = v1.py_func(lambda: ran.append('c') or 1., [], tf.float64)
    with tf.control_dependencies([c]):
        d = tf.constant(2.)
    sess.run(tf.constant(1))
    print(ran)
    sess.run(d)
    print(ran)
    sess.run(d.op)
    print(ran)
    sess.run([a, a, a + a])
    print(ran)
