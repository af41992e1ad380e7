import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def rounded(value):
    value = np.asarray(value, np.float64)
    return float(f'{value:.4g}') if value.ndim == 0 else [rounded(item) for item in value]


with tf.Graph().as_default():
    w = v1.get_variable('w', initializer=[1., 2.])
    loss = tf.reduce_sum(w * w)
    first, second = v1.train.AdamOptimizer(0.1), v1.train.AdamOptimizer(0.2)
    a, b = first.minimize(loss), second.minimize(loss, name='other')
    print(a.name, b.name, [v.name for v in v1.global_variables()])
    print(first.get_slot(w, 'm').name, second.get_slot(w, 'v').name, first.get_slot(w, 'x'))
    print([v.name for v in v1.trainable_variables()])
