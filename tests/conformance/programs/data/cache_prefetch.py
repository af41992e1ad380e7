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


made = []


def note(x):
    made.append(int(x))
    return x


dataset = Dataset.range(3).map(lambda x: tf.numpy_function(note, [x], tf.int64)).cache()
print(made)
print([int(x) for x in dataset], made)
print([int(x) for x in dataset], made)
partly = Dataset.range(3).map(lambda x: tf.numpy_function(note, [x], tf.int64)).cache()
print([int(x) for x in partly.repeat(2)], made)
show('prefetch', lambda: Dataset.range(4).prefetch(2))
show('prefetch 0', lambda: Dataset.range(4).prefetch(0))
show('prefetch auto', lambda: Dataset.range(4).prefetch(tf.data.AUTOTUNE))
show('prefetch -2', lambda: Dataset.range(4).prefetch(-2))
show('nested', lambda: Dataset.range(6).prefetch(1).batch(2).prefetch(1))
