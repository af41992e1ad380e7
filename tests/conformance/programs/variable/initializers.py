import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default():
    made = {
        'zeros': v1.zeros_initializer(), 'ones': v1.ones_initializer(), 'constant': v1.constant_initializer(2.5),
        'list': v1.constant_initializer([[1., 2.], [3., 4.]]), 'initializers': v1.initializers.ones(),
        'orthogonal': v1.orthogonal_initializer(), 'identity': v1.initializers.identity(gain=2.)}
    for name, initializer in made.items():
        v = v1.get_variable(name, [2, 2], initializer=initializer)
        with v1.Session() as sess:
            sess.run(v.initializer)
            value = sess.run(v)
            print(name, np.round(value @ value.T, 4).tolist() if name == 'orthogonal' else value.tolist())
    for name, initializer, low, high in (
            ('uniform', v1.random_uniform_initializer(-1., 1.), -1., 1.),
            ('glorot', v1.glorot_uniform_initializer(), -0.3, 0.3),
            ('truncated', v1.truncated_normal_initializer(0., 0.1), -0.2, 0.2),
            ('he', v1.initializers.he_uniform(), -0.35, 0.35),
            ('scaling', v1.variance_scaling_initializer(distribution='uniform'), -0.25, 0.25)):
        v = v1.get_variable(name, [50, 50], initializer=initializer)
        with v1.Session() as sess:
            sess.run(v.initializer)
            value = sess.run(v)
            print(name, bool((value >= low).all() and (value <= high).all()), bool(abs(value.mean()) < 0.05))
    show('scale', lambda: v1.variance_scaling_initializer(scale=-1.))
    show('mode', lambda: v1.variance_scaling_initializer(mode='x'))
    show('config', lambda: v1.constant_initializer(3).get_config())
    show('uniform config', lambda: v1.random_uniform_initializer(-1, 2, seed=3).get_config())
show('v2 zeros', lambda: tf.zeros_initializer()(shape=[2]))
show('v2 ones', lambda: tf.ones_initializer()([2], tf.int32))
show('v2 constant', lambda: tf.constant_initializer(3.)([2]))
show('v2 list', lambda: tf.constant_initializer([1, 2])([2], tf.int32))
show('v2 uniform', lambda: bool((tf.random_uniform_initializer(0., 1.)([5]) >= 0.).numpy().all()))
show('v2 normal', lambda: tf.random_normal_initializer()([2, 3]).shape)
