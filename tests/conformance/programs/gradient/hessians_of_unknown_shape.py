import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
def case(label, shape, fed, f):
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, shape)
        try:
            h = tf.hessians(f(x), x)[0]
            with tf1.Session() as s:
                print(label, h.shape, s.run(h, {x: fed}).tolist())
        except Exception as e:
            print(label, '!!', type(e).__name__)
def cube(x):
    return tf.reduce_sum(x ** 3) + tf.reduce_sum(x) ** 2
for label, shape, fed in (('vector', [None], [1., 2.]), ('unknown rank', None, [1., 2.]), ('rows', [None, 2], [[1., 2.], [3., 4.]]),
                          ('scalar', None, 3.), ('known', [2], [1., 2.]), ('no elements', [0], []), ('no elements yet', [None], []),
                          ('three axes', [None, 2, 1], [[[1.], [2.]]])):
    case(label, shape, fed, cube)
case('linear', [None], [1., 2.], tf.reduce_sum)
case('constant', [None], [1., 2.], lambda x: tf.constant(1.))
with tf.Graph().as_default():
    x, y = tf1.placeholder(tf.float32, [None]), tf1.placeholder(tf.float32, [2])
    h = tf.hessians(tf.reduce_sum(x) ** 3 * tf.reduce_sum(y ** 2), [x, y])
    with tf1.Session() as s:
        print([t.shape for t in h], [v.tolist() for v in s.run(h, {x: [1., 2.], y: [1., 1.]})])
