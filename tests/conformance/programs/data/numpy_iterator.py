import tensorflow as tf, numpy as np

Dataset = tf.data.Dataset
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


found = Dataset.from_tensor_slices({'a': [1, 2], 'b': ['x', 'y']}).as_numpy_iterator()
for element in found:
    print({key: (type(element[key]).__name__, element[key]) for key in sorted(element)})
print([type(x).__name__ for x in Dataset.range(2).as_numpy_iterator()])
print([(x.shape, x.dtype) for x in Dataset.range(4).batch(2).as_numpy_iterator()])
with tf.Graph().as_default():
    show('graph', lambda: v1.data.Dataset.range(3).as_numpy_iterator())
    show('iter', lambda: iter(v1.data.Dataset.range(3)))
    show('len', lambda: len(v1.data.Dataset.range(3)))
