import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    p = v1.placeholder(tf.float32, name='p')
    q = v1.placeholder(tf.float32, name='q')

    def first(tensor, **feed):
        try:
            return sess.run(tensor, {'p:0': feed['p'], 'q:0': feed['q']})
        except tf.errors.OpError as error:
            lines = str(error).split('\n')
            place = [n for n, l in enumerate(lines) if l.startswith('Node: ')][0]
            return type(error).__name__, error.op.name, lines[place], lines[place + 1]
    print(first(tf.add(p, q, name='sum'), p=[1., 2.], q=[1., 2., 3.]))
    print(first(tf.matmul(p, q, name='mm'), p=[[1., 2.]], q=[[1., 2., 3.]]))
    print(first(tf.reshape(p, [5], name='rs'), p=[1., 2.], q=0.))
    print(first(tf.concat([p, q], 0, name='cc'), p=[[1., 2.]], q=[[1.]]))
    print(first(tf.gather(p, [7], name='ga'), p=[1.], q=0.))
    print(first(tf.ensure_shape(p, [2], name='es'), p=[1.], q=0.))
    print(first(tf.debugging.check_numerics(p, 'bad', name='cn'), p=[np.nan], q=0.))
    print(first(tf.squeeze(p, [0], name='sq'), p=[1., 2.], q=0.))
