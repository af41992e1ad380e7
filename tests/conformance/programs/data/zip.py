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


show('two', lambda: Dataset.zip((Dataset.range(3), Dataset.range(10, 12))))
show('args', lambda: Dataset.zip(Dataset.range(2), Dataset.range(5, 7)))
show('dict', lambda: Dataset.zip({'a': Dataset.range(2), 'b': Dataset.range(3)}))
show('nested', lambda: Dataset.zip((Dataset.range(2), (Dataset.range(3), Dataset.from_tensors('x').repeat()))))
show('one', lambda: Dataset.zip(Dataset.range(2)))
show('number', lambda: Dataset.zip(3))
show('list', lambda: Dataset.zip([Dataset.range(2), Dataset.range(3)]))
show('nothing', lambda: Dataset.zip())
show('enumerate', lambda: Dataset.from_tensor_slices(['a', 'b']).enumerate())
show('enumerate from', lambda: Dataset.from_tensor_slices(['a', 'b']).enumerate(start=5))
show('map', lambda: Dataset.zip((Dataset.range(3), Dataset.range(3))).map(lambda a, b: a + b))
