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


show('signature', lambda: Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32)))
show('types', lambda: Dataset.from_generator(lambda: iter([1, 2]), tf.int64))
show('shapes', lambda: Dataset.from_generator(lambda: iter([[1, 2]]), tf.int64, [2]))
show('structure', lambda: Dataset.from_generator(lambda: iter([(1, {'a': 2.})]), (tf.int32, {'a': tf.float32})))
show('pairs', lambda: Dataset.from_generator(lambda: iter([(1, [2.]), (3, [4., 5.])]),
                                             output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))))
show('args', lambda: Dataset.from_generator(lambda n, m: range(n, m), tf.int64, args=(2, tf.constant(5))))
show('twice', lambda: Dataset.from_generator(lambda: iter([1, 2]), tf.int32).repeat(2))
show('strings', lambda: Dataset.from_generator(lambda: iter(['a', b'b']), tf.string))
show('iterable', lambda: Dataset.from_generator(lambda: [5, 6], tf.int32))
show('no types', lambda: Dataset.from_generator(lambda: iter([1])))
show('both', lambda: Dataset.from_generator(lambda: iter([1]), tf.int32, output_signature=tf.TensorSpec([], tf.int32)))
show('not callable', lambda: Dataset.from_generator([1, 2], tf.int32))
show('signature of', lambda: Dataset.from_generator(lambda: iter([1]), output_signature=tf.int32))
