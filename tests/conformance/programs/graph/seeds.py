import tensorflow as tf, numpy as np

v1 = tf.compat.v1

def values(seed, op_seed):
    with tf.Graph().as_default(), v1.Session() as sess:
        if seed is not None:
            v1.set_random_seed(seed)
        a = v1.random_uniform([2], seed=op_seed)
        b = v1.random_uniform([2], seed=op_seed)
        return [sess.run([a, b]) for _ in range(2)], a.op.get_attr('seed'), a.op.get_attr('seed2'), b.op.get_attr('seed2')


for seed, op_seed in ((1, None), (None, 2), (1, 2)):
    first, again = values(seed, op_seed), values(seed, op_seed)
    print(np.array_equal(first[0], again[0]), first[1:], np.array_equal(first[0][0], first[0][1]),
          np.array_equal(first[0][0][0], first[0][0][1]))
print(np.array_equal(values(None, None)[0], values(None, None)[0]))
with tf.Graph().as_default() as g:
    print(g.seed)
    v1.set_random_seed(7)
    print(g.seed, v1.get_seed(None), v1.get_seed(3))
    tf.constant(1)
    print(v1.get_seed(None))
with tf.Graph().as_default() as g:
    print(v1.get_seed(None), v1.get_seed(3), tf.random.set_seed(5), g.seed, v1.get_seed(0))
