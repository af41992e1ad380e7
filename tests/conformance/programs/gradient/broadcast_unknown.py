import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x, y = v1.placeholder(tf.float32, name='x'), v1.placeholder(tf.float32, [None, 3], name='y')
s = v1.Session()
for name, f in dict(mul=tf.multiply, sub=tf.subtract, where=lambda a, b: tf.where(a > 1., a * b, b)).items():
    g = tf.gradients(f(x, y), [x, y])
    print(name, g)
    for value in (2., [1., 2., 3.], [[1.], [2.]]): print([v.tolist() for v in s.run(g, {x: value, y: np.ones([2, 3])})])
