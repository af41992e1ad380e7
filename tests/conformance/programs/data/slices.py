import tensorflow as tf, numpy as np

Dataset = tf.data.Dataset


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


show('list', lambda: Dataset.from_tensor_slices([1, 2, 3]))
show('matrix', lambda: Dataset.from_tensor_slices(np.arange(6).reshape(3, 2)))
show('tuple', lambda: Dataset.from_tensor_slices(([1, 2], ['a', 'b'])))
show('dict', lambda: Dataset.from_tensor_slices({'a': [1, 2], 'b': [[3], [4]]}))
show('pair of dict', lambda: Dataset.from_tensor_slices(({'x': [1., 2.]}, [0, 1])))
show('strings', lambda: Dataset.from_tensor_slices(['x', 'yy']))
show('scalar', lambda: Dataset.from_tensor_slices(1))
show('sizes', lambda: Dataset.from_tensor_slices(([1, 2], [1])))
show('empty list', lambda: Dataset.from_tensor_slices([]))
show('list of pairs', lambda: Dataset.from_tensor_slices([(1, 2), (3, 4)]))
show('bools', lambda: Dataset.from_tensor_slices([True, False]))
