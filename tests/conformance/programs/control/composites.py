import tensorflow as tf, numpy as np
r = tf.ragged.constant([[1., 2.], [3.]])
sparse = tf.sparse.from_dense([1., 0., 2.])
for mode in (lambda f: f, tf.function):
    print(mode(lambda p: tf.cond(p, lambda: r, lambda: r * 2.))(tf.constant(False)).to_list())
    s = mode(lambda p: tf.cond(p, lambda: sparse, lambda: tf.sparse.from_dense([0., 5., 0.])))(tf.constant(False))
    print(s.indices.numpy().tolist(), s.values.numpy(), s.dense_shape.numpy())
    i, s = mode(lambda: tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * 2., s.dense_shape)), [0, sparse]))()
    print(i.numpy(), s.values.numpy())
    i, q = mode(lambda: tf.while_loop(lambda i, q: i < 2, lambda i, q: (i + 1, q * 2.), [0, r]))()
    print(q.to_list())
