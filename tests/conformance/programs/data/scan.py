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


show('sum', lambda: Dataset.range(5).scan(np.int64(0), lambda state, x: (state + x, state + x)))
show('pair', lambda: Dataset.range(4).scan((0, np.int64(1)), lambda state, x: ((state[0] + 1, state[1] * 2), state[1] + x)))
show('output', lambda: Dataset.range(3).scan(0, lambda state, x: (state + 1, (state, x))))
show('not pair', lambda: Dataset.range(3).scan(0, lambda state, x: state))
show('type', lambda: Dataset.range(3).scan(0, lambda state, x: (x, x)))
show('apply', lambda: Dataset.range(3).apply(tf.data.experimental.scan(np.int64(1), lambda s, x: (s * 2, s + x))))
