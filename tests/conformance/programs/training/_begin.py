import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def rounded(value):
    value = np.asarray(value, np.float64)
    return float(f'{value:.4g}') if value.ndim == 0 else [rounded(item) for item in value]


def steps(make, count=10):
    with tf.Graph().as_default():
        w = v1.get_variable('w', initializer=tf.constant([[1., -2.], [0.5, 3.]]))
        b = v1.get_variable('b', initializer=tf.constant([0.1, 0.2]))
        x = tf.constant([[1., 2.], [-1., 0.5]])
        loss = tf.reduce_sum((tf.matmul(x, w) + b - 1.) ** 2) + tf.reduce_sum(tf.abs(w)) * 0.1
        optimizer = make()
        train = optimizer.minimize(loss)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            losses = [float(sess.run([loss, train])[0]) for _ in range(count)]
            print(type(optimizer).__name__, rounded(losses))
            print(rounded(sess.run(w)), rounded(sess.run(b)))
            for variable in optimizer.variables():
                print(variable.name, rounded(sess.run(variable)))
            print(optimizer.get_slot_names(), optimizer.get_name())
            print([variable.name for variable in v1.global_variables()])
