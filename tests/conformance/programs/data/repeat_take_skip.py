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


show('repeat', lambda: Dataset.range(2).repeat(3))
show('repeat 0', lambda: Dataset.range(2).repeat(0))
show('repeat for ever', lambda: Dataset.range(2).repeat().take(5))
show('repeat -1', lambda: Dataset.range(2).repeat(-1).take(3))
show('empty for ever', lambda: Dataset.range(0).repeat().take(3))
show('take', lambda: Dataset.range(5).take(2))
show('take all', lambda: Dataset.range(5).take(-1))
show('take more', lambda: Dataset.range(2).take(9))
show('skip', lambda: Dataset.range(5).skip(2))
show('skip all', lambda: Dataset.range(5).skip(-1))
show('skip more', lambda: Dataset.range(5).skip(9))
show('shard', lambda: [list(Dataset.range(7).shard(3, i).as_numpy_iterator()) for i in range(3)])
show('shard index', lambda: Dataset.range(7).shard(3, 3))
show('shard none', lambda: Dataset.range(7).shard(0, 0))
show('take_while', lambda: Dataset.range(9).take_while(lambda x: x * x < 10))
show('after repeat', lambda: Dataset.range(3).take_while(lambda x: x < 2).repeat(2))
