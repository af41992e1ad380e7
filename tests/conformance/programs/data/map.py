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


show('plain', lambda: Dataset.range(3).map(lambda x: x * 2))
show('two', lambda: Dataset.range(3).map(lambda x: (x, x + 1)))
show('unpacked', lambda: Dataset.range(3).map(lambda x: (x, x + 1)).map(lambda a, b: a * b))
show('dict', lambda: Dataset.from_tensor_slices({'a': [1, 2]}).map(lambda d: {'b': d['a'] + 1}))
show('list', lambda: Dataset.range(2).map(lambda x: [x, x + 1]))
show('constant', lambda: Dataset.range(2).map(lambda x: 'a'))
show('array', lambda: Dataset.range(2).map(lambda x: np.ones(2)))
show('none', lambda: Dataset.range(2).map(lambda x: (x, None)))
show('object', lambda: Dataset.range(2).map(lambda x: object()))
show('not callable', lambda: Dataset.range(2).map(3))
show('wrong count', lambda: Dataset.from_tensors((1, 2)).map(lambda a, b: (b, a)))
show('shape', lambda: Dataset.range(2).map(lambda x: tf.fill([2, 3], x)).element_spec)
show('unknown shape', lambda: Dataset.range(1, 3).map(lambda x: tf.fill([x], x)))
show('traced once', lambda: None)
calls = []


def count(x):
    calls.append(type(x).__name__ != 'EagerTensor')
    return x


print(len(list(Dataset.range(5).map(count))), calls)
