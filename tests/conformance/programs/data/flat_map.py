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


show('ranges', lambda: Dataset.range(4).flat_map(lambda x: Dataset.range(x)))
show('slices', lambda: Dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(Dataset.from_tensor_slices))
show('map inside', lambda: Dataset.range(3).flat_map(lambda x: Dataset.range(2).map(lambda y: x * 10 + y)))
show('empty', lambda: Dataset.range(3).flat_map(lambda x: Dataset.range(0)))
show('pair', lambda: Dataset.range(2).flat_map(lambda x: Dataset.zip((Dataset.range(2), Dataset.from_tensors(x).repeat()))))
show('no dataset', lambda: Dataset.range(2).flat_map(lambda x: (x, x)))
