import tensorflow as tf, numpy as np

def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


def table():
    return tf.Variable([[1., 1.], [2., 2.], [3., 3.]])


def slices(values=((10., 20.),), indices=(1,)):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices))


for name in ('scatter_add', 'scatter_sub', 'scatter_update', 'scatter_mul', 'scatter_div', 'scatter_max', 'scatter_min'):
    show(name, lambda: getattr(table(), name)(slices()).numpy().tolist())
show('twice', lambda: table().scatter_add(slices([[1., 1.], [2., 2.]], [0, 0])).numpy().tolist())
show('no slices', lambda: table().scatter_add(tf.constant(1.)))
show('outside', lambda: table().scatter_update(slices(indices=[7])))
for name in ('scatter_nd_add', 'scatter_nd_sub', 'scatter_nd_update', 'scatter_nd_max', 'scatter_nd_min'):
    show(name, lambda: getattr(table(), name)([[0, 1], [2, 0]], [5., 7.]).numpy().tolist())
show('rows', lambda: table().scatter_nd_add([[2], [0]], [[1., 2.], [3., 4.]]).numpy().tolist())
show('batch', lambda: table().batch_scatter_update(tf.IndexedSlices(tf.constant([[9.], [8.], [7.]]), tf.constant([[1], [0], [1]]))).numpy().tolist())
show('gather_nd', lambda: table().gather_nd([[0, 1], [2, 0]]))
show('sparse_read', lambda: table().sparse_read([2, 0]))
show('count', lambda: tf.Variable(1).count_up_to(3))
