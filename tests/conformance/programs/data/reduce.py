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


show('sum', lambda: Dataset.range(5).reduce(np.int64(0), lambda state, x: state + x))
show('count', lambda: Dataset.range(5).reduce(0, lambda state, _: state + 1))
show('pair', lambda: Dataset.range(1, 5).reduce((np.int64(0), np.int64(1)), lambda state, x: (state[0] + x, state[1] * x)))
show('tuple elements', lambda: Dataset.from_tensor_slices(([1, 2], [3, 4])).reduce(0, lambda state, e: state + e[0] * e[1]))
show('shape', lambda: Dataset.range(3).reduce(tf.zeros([0], tf.int64), lambda state, x: tf.concat([state, [x]], 0)))
show('type', lambda: Dataset.range(3).reduce(0, lambda state, x: x))
show('empty', lambda: Dataset.range(0).reduce(7, lambda state, x: state + 1))
show('string', lambda: Dataset.from_tensor_slices(['a', 'b']).reduce('', lambda state, x: state + x))
show('script', lambda: Dataset.range(4).reduce(np.int64(0), lambda s, x: tf.numpy_function(lambda a, b: a * 10 + b, [s, x], tf.int64)))
