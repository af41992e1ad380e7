import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


def run(function, start=((1., 1.), (2., 2.), (3., 3.))):
    with tf.Graph().as_default():
        v = v1.get_variable('v', initializer=tf.constant(start), use_resource=True)
        op = function(v)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            return np.asarray(sess.run(op)).tolist(), sess.run(v).tolist()


for name in ('scatter_add', 'scatter_sub', 'scatter_update', 'scatter_mul', 'scatter_div', 'scatter_max', 'scatter_min'):
    show(name, lambda: run(lambda v: getattr(v1, name)(v, [0, 2], [[1., 2.], [4., 5.]])))
for name in ('scatter_nd_add', 'scatter_nd_sub', 'scatter_nd_update'):
    show(name, lambda: run(lambda v: getattr(v1, name)(v, [[0, 1], [2, 0]], [5., 7.])))
show('batch', lambda: run(lambda v: v1.batch_scatter_update(v, [[1], [0], [1]], [[9.], [8.], [7.]])))
show('slice', lambda: run(lambda v: v[1].assign([5., 6.])))
show('count', lambda: run(lambda v: v1.count_up_to(v, 5), 3))
show('count end', lambda: run(lambda v: v1.count_up_to(v, 3), 3))
