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


def rows(dataset):
    return [[int(x) for x in window] for window in dataset]


show('plain', lambda: rows(Dataset.range(7).window(3)))
show('shift', lambda: rows(Dataset.range(7).window(3, shift=2)))
show('shift 1 drop', lambda: rows(Dataset.range(5).window(3, shift=1, drop_remainder=True)))
show('stride', lambda: rows(Dataset.range(9).window(3, shift=1, stride=2, drop_remainder=True)))
show('stride rest', lambda: rows(Dataset.range(7).window(3, shift=2, stride=2)))
show('gap', lambda: rows(Dataset.range(10).window(2, shift=4)))
show('gap drop', lambda: rows(Dataset.range(9).window(2, shift=4, drop_remainder=True)))
show('batch', lambda: Dataset.range(5).window(2).flat_map(lambda w: w.batch(2)))
show('spec', lambda: Dataset.range(3).window(2).element_spec)
show('pair spec', lambda: Dataset.from_tensor_slices(([1, 2], ['a', 'b'])).window(2).element_spec)
show('pair', lambda: [(list(a.as_numpy_iterator()), list(b.as_numpy_iterator())) for a, b in Dataset.from_tensor_slices(([1, 2, 3], ['a', 'b', 'c'])).window(2)])
show('cardinality', lambda: [int(Dataset.range(n).window(3, shift=2, drop_remainder=d).cardinality()) for n in range(8) for d in (False, True)])
