import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
SHAPES = dict(
    zeros=lambda s: tf.zeros(s), ones=lambda s: tf.ones(s), fill=lambda s: tf.fill(s, 1.), reshape=lambda s: tf.reshape(tf.range(6), s),
    uniform=lambda s: tf.random.uniform(s), normal=lambda s: tf.random.normal(s), integers=lambda s: tf.random.uniform(s, 0, 5, tf.int32),
    stateless=lambda s: tf.random.stateless_normal(s, [1, 2]), broadcast=lambda s: tf.broadcast_to(1., s),
    scatter=lambda s: tf.scatter_nd([[0]], tf.zeros([1, 3]), s), tile=lambda s: tf.tile([[1, 2]], s),
    slice=lambda s: tf.slice(tf.zeros([5, 5]), [0, 0], s), concat=lambda s: tf.zeros(tf.concat([s, [4]], 0)),
    part=lambda s: tf.zeros(s[:1]), cast=lambda s: tf.zeros(tf.cast(s, tf.int64)), identity=lambda s: tf.zeros(tf.identity(s)),
    axes=lambda s: tf.reduce_sum(tf.zeros([2, 3, 4, 5]), s), paddings=lambda s: tf.pad(tf.zeros([3, 4]), [s, s]),
    mirror=lambda s: tf.pad(tf.zeros([4, 5]), [s, [1, 1]], 'REFLECT'), sparse=lambda s: tf.SparseTensor(tf.zeros([1, 2], tf.int64), [1.], tf.cast(s, tf.int64)),
    eye=lambda s: tf.eye(2, batch_shape=s), like=lambda s: tf.zeros_like(tf.zeros(s)), known=lambda s: tf.get_static_value(s))
for name, f in SHAPES.items():
    found = []
    def inside(s):
        r = f(s)
        found.append(r if r is None or isinstance(r, np.ndarray) else r.shape)
        return 1
    with tf.Graph().as_default():
        s, p = tf.constant([2, 3]), tf1.placeholder_with_default(True, [])
        tf.cond(p, lambda: inside(s), lambda: 2)
        tf.cond(p, lambda: tf.cond(p, lambda: inside(s), lambda: 2), lambda: 2)
        tf.function(lambda: inside(s))()
        tf.while_loop(lambda i: i < 1, lambda i: i + inside(s), [0])
    c = tf.constant([2, 3])
    tf.function(lambda: inside(c))()
    print(name, *found)
try:
    c = tf.constant(2)
    tf.function(lambda: tf.reduce_sum(tf.zeros([2]), c))()
except ValueError as e:
    print([line.split(' for ')[0] + line.split('input shapes')[1] for line in str(e).splitlines() if 'ValueError' in line])
