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


def plus_one(x):
    return x + 1


def square(x):
    return x * x


show('py_function', lambda: Dataset.range(3).map(lambda x: tf.py_function(plus_one, [x], tf.int64)))
show('numpy_function', lambda: Dataset.range(3).map(lambda x: tf.numpy_function(square, [x], tf.int64)))
show('two outputs', lambda: Dataset.range(2).map(lambda x: tf.py_function(lambda a: (a, 2 * a), [x], [tf.int64, tf.int64])))
show('strings', lambda: Dataset.from_tensor_slices(['a', 'b']).map(
    lambda s: tf.numpy_function(lambda b: b.decode().upper(), [s], tf.string)))


def shaped(x):
    y = tf.py_function(lambda a: tf.fill([2], a), [x], tf.int64)
    y.set_shape([2])
    return y


show('set_shape', lambda: Dataset.range(2).map(shaped).batch(2))
kinds = []
list(Dataset.range(2).map(lambda x: tf.numpy_function(lambda a: kinds.append(type(a).__name__) or a, [x], tf.int64)))
print(kinds)
kinds = []
list(Dataset.range(1).map(lambda x: tf.py_function(lambda a: kinds.append((type(a).__name__, tf.executing_eagerly())) or a, [x], tf.int64)))
print(kinds)
