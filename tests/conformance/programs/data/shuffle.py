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


dataset = Dataset.range(10)
print(sorted(int(x) for x in dataset.shuffle(4)))
print([int(x) for x in dataset.shuffle(1)])
same = dataset.shuffle(10, seed=3, reshuffle_each_iteration=False)
print([int(x) for x in same] == [int(x) for x in same])
other = dataset.shuffle(10, seed=3, reshuffle_each_iteration=True)
print([int(x) for x in other] == [int(x) for x in other])
print(sorted(int(x) for x in other.repeat(2)))
first = [int(x) for x in dataset.shuffle(3).take(1)]
print(first[0] < 3)
show('zero', lambda: dataset.shuffle(0))
show('spec', lambda: dataset.shuffle(2).element_spec)
tf.random.set_seed(5)
a = [int(x) for x in dataset.shuffle(10, seed=1)]
tf.random.set_seed(5)
b = [int(x) for x in dataset.shuffle(10, seed=1)]
print(a == b)
