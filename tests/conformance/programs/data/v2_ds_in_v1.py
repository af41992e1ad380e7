import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def show(label, function):
    try:
        found = function()
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])
        return
    if isinstance(found, tf.data.Dataset):
        try:
            print(label, found.element_spec, [plain(value) for value in found.as_numpy_iterator()])
        except Exception as error:
            print(label, found.element_spec, '!!', type(error).__name__, '|', str(error).split('\n')[0])
    else:
        print(label, found)


with tf.Graph().as_default():
    dataset = tf.data.Dataset.from_tensor_slices({'x': [1, 2, 3], 'y': [4., 5., 6.]}).map(lambda d: (d['x'] * 2, d['y'])).batch(2)
    show('spec', lambda: dataset.element_spec)
    iterator = v1.data.make_initializable_iterator(dataset)
    x, y = iterator.get_next()
    print(x, y)
    with v1.Session() as sess:
        sess.run(iterator.initializer)
        print(sess.run((x, y)))
        print(sess.run((x, y)))
    optional = iterator.get_next_as_optional()
    has = optional.has_value()
    with v1.Session() as sess:
        sess.run(iterator.initializer)
        print([bool(sess.run(has)) for _ in range(3)])
    print(v1.data.get_output_types(dataset), v1.data.get_output_shapes(dataset), v1.data.get_output_classes(dataset))
