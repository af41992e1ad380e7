import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def rounded(value):
    value = np.asarray(value, np.float64)
    return float(f'{value:.4g}') if value.ndim == 0 else [rounded(item) for item in value]


for make in (lambda: v1.train.GradientDescentOptimizer(0.1), lambda: v1.train.MomentumOptimizer(0.1, 0.9),
             lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), lambda: v1.train.AdamOptimizer(0.1),
             lambda: v1.train.AdagradOptimizer(0.1), lambda: v1.train.RMSPropOptimizer(0.1),
             lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True), lambda: v1.train.AdadeltaOptimizer(1.),
             lambda: v1.train.FtrlOptimizer(0.1)):
    with tf.Graph().as_default():
        table = v1.get_variable('t', initializer=tf.reshape(tf.range(8.), [4, 2]))
        rows = v1.placeholder(tf.int32, [None])
        loss = tf.reduce_sum(tf.gather(table, rows) ** 2)
        optimizer = make()
        train = optimizer.minimize(loss)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for chosen in ([1, 3], [1, 1, 2], [0], [3, 0]):
                sess.run(train, {rows: chosen})
            print(type(optimizer).__name__, rounded(sess.run(table)))
            print([(v.name, rounded(sess.run(v))) for v in optimizer.variables()])
