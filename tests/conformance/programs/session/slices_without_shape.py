import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
with tf.Graph().as_default(), tf1.Session() as s:
    n = tf.IndexedSlices(tf.constant([[1., 2.]]), tf.constant([1]))
    w = tf.IndexedSlices(tf.constant([[1., 2.]]), tf.constant([1]), tf.constant([3, 2]))
    print(s.run(n), s.run([n, w]), s.run({'a': n}), s.run((n, n.values)))
    print(s.run(n.values * 2., {n: ([[5., 6.]], [2])}), s.run([n, w], {n: ([[5., 6.]], [2]), w: ([[7., 8.]], [0], [9, 9])}))
    print(s.make_callable([n], [n])(([[5., 6.]], [2])))
    for fed in (([[5., 6.]],), ([[5., 6.]], [2]), ([[5., 6.]], [2], [4, 2]), ([[5., 6.]], [2], None), 3., None):
        for z in (n, w):
            try:
                print(s.run(z, {z: fed}))
            except TypeError as e:
                print('TypeError')
    h = s.partial_run_setup([n.values * 2., w.values * 3.], [n, w])
    print(type(h).__name__)
    p, i = tf1.placeholder(tf.float32, [None, 2]), tf1.placeholder(tf.int32, [None])
    q = tf.IndexedSlices(p, i)
    print(s.run(q, {p: [[1., 2.]], i: [0]}), s.run(q, {q: ([[3., 4.]], [1])}), s.run(q, {p: [[1., 2.]], i: [0]}))
    b = tf1.placeholder_with_default(True, [])
    r = tf.cond(b, lambda: n, lambda: tf.IndexedSlices(n.values * 2., n.indices))
    print(r.dense_shape, s.run(r), s.run(r, {b: False}))
    l = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.IndexedSlices(a.values * 2., a.indices)), [0, n])[1]
    print(s.run(l))
