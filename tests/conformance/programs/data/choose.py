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


datasets = [Dataset.range(3), Dataset.range(10, 13), Dataset.range(20, 21)]
choice = Dataset.from_tensor_slices(np.array([0, 1, 0, 2, 1], np.int64))
show('plain', lambda: Dataset.choose_from_datasets(datasets, choice))
show('repeat', lambda: Dataset.choose_from_datasets(datasets, Dataset.range(3).repeat(3)))
show('go on', lambda: Dataset.choose_from_datasets(datasets, Dataset.range(3).repeat(3), stop_on_empty_dataset=False))
show('types', lambda: Dataset.choose_from_datasets(datasets, Dataset.from_tensors('a')))
show('none', lambda: Dataset.choose_from_datasets([], choice))
show('only one', lambda: Dataset.sample_from_datasets(datasets[:2], weights=[1., 0.]).take(3))
show('sorted', lambda: sorted(int(x) for x in Dataset.sample_from_datasets(datasets)))
show('weights', lambda: Dataset.sample_from_datasets(datasets, weights=[1.]))
