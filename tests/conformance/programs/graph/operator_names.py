import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    a, b = v1.placeholder(tf.float32, [2], name='a'), v1.placeholder(tf.float32, [2], name='b')
    for t in (a + b, a - b, a * b, a / b, a // b, a % b, a ** b, -a, abs(a), a < b, a >= b, a + 1., 1. - a, a[0], tf.add(a, b), tf.matmul(
            [a], [b], transpose_b=True), ~(a > b), (a > b) & (a < b), tf.reduce_sum(a), tf.identity(a), tf.stack([a, b]), tf.zeros([2]),
            tf.cast(a, tf.int32), tf.reshape(a, [1, 2]), tf.concat([a, b], 0)):
        print(t.name, t.op.type, [i.name for i in t.op.inputs])
    print([op.name for op in g.get_operations()])
