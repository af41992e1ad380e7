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


with tf.Graph().as_default() as graph:
    a = v1.get_variable('a', initializer=2.)
    b = v1.get_variable('b', initializer=3.)
    unused = v1.get_variable('unused', initializer=1.)
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(a * a * b)
    print([(g is not None, v.name) for g, v in pairs])
    step = v1.train.get_or_create_global_step()
    clipped = [(tf.clip_by_value(g, -1., 1.), v) for g, v in pairs if g is not None]
    train = optimizer.apply_gradients(clipped, global_step=step)
    print(train.name, train.type, v1.get_collection(v1.GraphKeys.TRAIN_OP) == [train])
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for _ in range(3):
            sess.run(train)
        print(sess.run([a, b, unused, step]), v1.train.global_step(sess, step))
    only = optimizer.compute_gradients(a * b, var_list=[b])
    print(len(only), only[0][1].name)
    show('none', lambda: optimizer.apply_gradients([]))
    show('no gradients', lambda: optimizer.apply_gradients([(None, a)]))
    show('unrelated', lambda: optimizer.minimize(tf.constant(1.), var_list=[a]))
with tf.Graph().as_default():
    show('no variables', lambda: v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.)))
    show('no name', lambda: v1.train.create_global_step().name)
    show('twice', lambda: v1.train.create_global_step())
    show('known', lambda: v1.train.get_global_step().name)
