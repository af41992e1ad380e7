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


for calls in (1, 2, 5, tf.data.AUTOTUNE):
    show(calls if calls > 0 else 'AUTOTUNE', lambda: Dataset.range(7).map(lambda x: x + 1, num_parallel_calls=calls))
show('numpy', lambda: Dataset.range(7).map(lambda x: tf.numpy_function(lambda a: a * 2, [x], tf.int64), num_parallel_calls=3))
show('sorted', lambda: sorted(int(x) for x in Dataset.range(9).map(lambda x: x, 3, deterministic=False)))
show('batch', lambda: Dataset.range(7).map(lambda x: x, 2).batch(3))
show('nested', lambda: Dataset.range(6).map(lambda x: x + 1, 2).map(lambda x: x * 2, 2).filter(lambda x: x > 4))
print(repr(Dataset.range(2).map(lambda x: x, num_parallel_calls=2)))
