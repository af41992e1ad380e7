import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x, y = v1.placeholder(tf.float32, [2, 1], name='x'), v1.placeholder(tf.float32, [3], name='y')
s = v1.Session()
feed = {x: [[1.], [2.]], y: [1., 2., 4.]}
for name, f in dict(add=tf.add, sub=tf.subtract, mul=tf.multiply, div=tf.divide, pow=tf.pow, maximum=tf.maximum, minimum=tf.minimum, squared=tf.math.squared_difference, atan2=tf.atan2, floormod=tf.math.floormod).items():
    print(name, [np.round(v, 5).tolist() for v in s.run(tf.gradients(f(x, y), [x, y]), feed)])
