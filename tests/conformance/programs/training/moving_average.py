import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def rounded(value):
    value = np.asarray(value, np.float64)
    return float(f'{value:.4g}') if value.ndim == 0 else [rounded(item) for item in value]


with tf.Graph().as_default():
    w = v1.get_variable('w', initializer=1.)
    u = v1.get_variable('u', initializer=[2., 4.])
    average = v1.train.ExponentialMovingAverage(0.9)
    assign = tf.group(v1.assign_add(w, 1.), v1.assign_add(u, [1., -1.]))
    with tf.control_dependencies([assign]):
        maintain = average.apply([w, u])
    print(average.average(w).name, average.average_name(u), average.name, average.average(w).trainable)
    print([v.name for v in v1.moving_average_variables()], [v.name for v in v1.global_variables()])
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for _ in range(3):
            sess.run(maintain)
            print(rounded(sess.run(w)), rounded(sess.run(average.average(w))), rounded(sess.run(average.average(u))))
    print(sorted(average.variables_to_restore()))
with tf.Graph().as_default():
    w = v1.get_variable('w', initializer=1.)
    count = v1.placeholder(tf.int64, [])
    average = v1.train.ExponentialMovingAverage(0.99, num_updates=count)
    maintain = average.apply()
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(w.assign(10.))
        for i in range(3):
            sess.run(maintain, {count: i})
            print(rounded(sess.run(average.average(w))))
v = tf.Variable(1., name='v')
average = tf.train.ExponentialMovingAverage(0.5)
average.apply([v])
v.assign(3.)
average.apply([v])
print(rounded(average.average(v)))
