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


def three(x):
    return Dataset.from_tensors(x).repeat(3)


for cycle, block in ((1, 1), (2, 1), (3, 1), (2, 2), (2, 4), (5, 2)):
    show((cycle, block), lambda: Dataset.range(1, 5).interleave(three, cycle_length=cycle, block_length=block))
show('uneven', lambda: Dataset.range(5).interleave(lambda x: Dataset.range(x), cycle_length=2))
show('uneven 3', lambda: Dataset.range(6).interleave(lambda x: Dataset.range(6 - x), cycle_length=3, block_length=2))
show('empty', lambda: Dataset.range(4).interleave(lambda x: Dataset.range(0), cycle_length=2))
show('parallel', lambda: Dataset.range(1, 5).interleave(three, cycle_length=2, num_parallel_calls=2))
show('repr', lambda: repr(Dataset.range(2).interleave(three, cycle_length=2)))
