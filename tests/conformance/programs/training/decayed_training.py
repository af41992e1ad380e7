import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def rounded(value):
    value = np.asarray(value, np.float64)
    return float(f'{value:.4g}') if value.ndim == 0 else [rounded(item) for item in value]


with tf.Graph().as_default():
    w = v1.get_variable('w', initializer=5.)
    step = v1.train.get_or_create_global_step()
    rate = v1.train.exponential_decay(0.2, step, 2, 0.5, staircase=True)
    train = v1.train.GradientDescentOptimizer(rate).minimize(w * w, global_step=step)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for _ in range(6):
            sess.run(train)
            print(rounded(sess.run(w)), sess.run(step), rounded(sess.run(rate)))
