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


show('scalar', lambda: Dataset.from_tensors(7))
show('list', lambda: Dataset.from_tensors([1, 2]))
show('tuple', lambda: Dataset.from_tensors((1, 'a')))
show('dict', lambda: Dataset.from_tensors({'b': 1., 'a': [True]}))
show('nested', lambda: Dataset.from_tensors(({'x': 1}, (2, [3]))))
show('string', lambda: Dataset.from_tensors('text'))
show('numpy', lambda: Dataset.from_tensors(np.ones((2, 2), np.float16)))
show('none', lambda: Dataset.from_tensors((1, None)))
