import tensorflow as tf, numpy as np

def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


v = tf.Variable([[1., 2., 3.], [4., 5., 6.]])
show('read', lambda: v[0])
show('column', lambda: v[:, 1])
show('assign row', lambda: v[0].assign([7., 8., 9.]).numpy().tolist())
show('assign part', lambda: v[1, 1:].assign([0., 1.]).numpy().tolist())
show('assign one', lambda: v[1, 0].assign(-1.).numpy().tolist())
show('step', lambda: v[:, ::2].assign([[1., 1.], [2., 2.]]).numpy().tolist())
show('ellipsis', lambda: v[..., 0].assign([5., 5.]).numpy().tolist())
show('all', lambda: v[:].assign(tf.zeros([2, 3])).numpy().tolist())
show('tensor index', lambda: v[tf.constant(1)].assign([1., 2., 3.]).numpy().tolist())
try:
    v[0].assign([1., 2.])
except tf.errors.InvalidArgumentError as error:
    print('Cannot broadcast input shape [2] into final shape [3]' in str(error))
show('tensor has none', lambda: tf.constant([1., 2.])[0].assign(1.))
