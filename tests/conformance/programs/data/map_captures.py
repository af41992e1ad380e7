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


offset = tf.constant(10, tf.int64)
variable = tf.Variable(5, dtype=tf.int64)
table = np.array([3, 1, 2])
show('tensor', lambda: Dataset.range(3).map(lambda x: x + offset))
dataset = Dataset.range(3).map(lambda x: x + variable)
show('variable', lambda: dataset)
variable.assign(100)
show('assigned', lambda: dataset)
show('array', lambda: Dataset.range(3).map(lambda x: tf.gather(table, x)))


def factory(n):
    return Dataset.range(3).map(lambda x: x * n)


show('python', lambda: factory(4))


def counting(x):
    variable.assign_add(1)
    return x


print([int(x) for x in Dataset.range(3).map(counting)], int(variable))
