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


show('plain', lambda: Dataset.range(5).batch(2))
show('drop', lambda: Dataset.range(5).batch(2, drop_remainder=True))
show('large', lambda: Dataset.range(3).batch(10))
show('large drop', lambda: Dataset.range(3).batch(10, drop_remainder=True))
show('pair', lambda: Dataset.from_tensor_slices(([1, 2, 3], ['a', 'b', 'c'])).batch(2))
show('twice', lambda: Dataset.range(7).batch(2).batch(2))
show('twice drop', lambda: Dataset.range(8).batch(2, True).batch(2, True))
show('zero', lambda: Dataset.range(3).batch(0))
show('negative', lambda: Dataset.range(3).batch(-1))
show('tensor', lambda: Dataset.range(3).batch(tf.constant(2, tf.int64)))
show('parallel', lambda: Dataset.range(5).batch(2, num_parallel_calls=2))
show('dict', lambda: Dataset.from_tensor_slices({'a': [1, 2, 3]}).batch(2))
