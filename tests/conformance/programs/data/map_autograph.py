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


def branch(x):
    if x % 2 == 0:
        return x * 10
    else:
        return -x


def loop(x):
    total = tf.constant(0, tf.int64)
    while x > 0:
        total += x
        x -= 1
    return total


def each(x):
    total = tf.constant(0, tf.int64)
    for i in tf.range(x):
        if i == 3:
            break
        total += i
    return total


show('if', lambda: Dataset.range(5).map(branch))
show('while', lambda: Dataset.range(5).map(loop))
show('for', lambda: Dataset.range(6).map(each))
show('filter', lambda: Dataset.range(6).filter(lambda x: x > 1 and x < 4))
