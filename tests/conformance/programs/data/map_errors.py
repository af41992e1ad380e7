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


show('division', lambda: list(Dataset.range(2).map(lambda x: 1 // x)))
show('assert', lambda: type(next(iter(Dataset.range(2).map(lambda x: tf.debugging.assert_greater(x, np.int64(5)) or x)))))
try:
    Dataset.range(2).map(lambda x: tf.constant([1., 2.]) + tf.constant([1., 2., 3.]))
except Exception as error:
    print(type(error).__name__, 'Dimensions must be equal' in str(error))
try:
    Dataset.range(2).map(lambda x: undefined_name)
except Exception as error:
    print(type(error).__name__, 'undefined_name' in str(error))
found = iter(Dataset.range(4).map(lambda x: tf.numpy_function(lambda a: 12 // a, [x], tf.int64)))
for _ in range(5):
    try:
        print(next(found))
    except StopIteration:
        print('end')
    except Exception as error:
        print(type(error).__name__)
