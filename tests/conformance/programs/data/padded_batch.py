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


ragged = Dataset.range(1, 5).map(lambda x: tf.fill([x], x))
show('longest', lambda: ragged.padded_batch(2))
show('value', lambda: ragged.padded_batch(2, padding_values=np.int64(-1)))
show('shape', lambda: ragged.padded_batch(2, padded_shapes=[5]))
show('none', lambda: ragged.padded_batch(3, padded_shapes=[None]))
show('minus one', lambda: ragged.padded_batch(3, padded_shapes=[-1]))
show('drop', lambda: ragged.padded_batch(3, drop_remainder=True))
show('small', lambda: ragged.padded_batch(2, padded_shapes=[2]))
pair = Dataset.range(1, 4).map(lambda x: (tf.fill([x], 'a'), x))
show('pair', lambda: pair.padded_batch(2))
show('pair given', lambda: pair.padded_batch(2, ([4], []), ('-', np.int64(9))))
show('wrong type', lambda: ragged.padded_batch(2, padding_values=tf.constant(1.5)))
show('wrong rank', lambda: ragged.padded_batch(2, padded_shapes=[2, 2]))
matrix = Dataset.range(1, 4).map(lambda x: tf.fill([x, 2], x))
show('matrix', lambda: matrix.padded_batch(3))
