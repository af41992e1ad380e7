import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


def rounded(value):
    value = np.asarray(value, np.float64)
    return float(f'{value:.4g}') if value.ndim == 0 else [rounded(item) for item in value]


T = v1.train
schedules = {
    'exponential': lambda s: T.exponential_decay(0.1, s, 3, 0.5), 'staircase': lambda s: T.exponential_decay(0.1, s, 3, 0.5, True),
    'natural': lambda s: T.natural_exp_decay(0.1, s, 3, 0.5), 'natural staircase': lambda s: T.natural_exp_decay(0.1, s, 3, 0.5, True),
    'inverse': lambda s: T.inverse_time_decay(0.1, s, 3, 0.5), 'inverse staircase': lambda s: T.inverse_time_decay(0.1, s, 3, 0.5, True),
    'polynomial': lambda s: T.polynomial_decay(0.1, s, 5, 0.01), 'power': lambda s: T.polynomial_decay(0.1, s, 5, 0.01, 2.),
    'cycle': lambda s: T.polynomial_decay(0.1, s, 3, 0.01, cycle=True), 'cosine': lambda s: T.cosine_decay(0.1, s, 5),
    'cosine alpha': lambda s: T.cosine_decay(0.1, s, 5, 0.2), 'restarts': lambda s: T.cosine_decay_restarts(0.1, s, 2),
    'restarts 1': lambda s: T.cosine_decay_restarts(0.1, s, 2, 1., 0.5, 0.1),
    'piecewise': lambda s: T.piecewise_constant(s, [2, 4], [1., 0.5, 0.1])}
for name, schedule in schedules.items():
    with tf.Graph().as_default():
        step = v1.placeholder(tf.int64, [])
        rate = schedule(step)
        with v1.Session() as sess:
            print(name, rounded([sess.run(rate, {step: i}) for i in range(8)]))
    print(name, callable(schedule(tf.Variable(3, dtype=tf.int64))), rounded(schedule(tf.Variable(3, dtype=tf.int64))()))
show('lengths', lambda: T.piecewise_constant(tf.constant(1), [1, 2], [0.1, 0.2]))
