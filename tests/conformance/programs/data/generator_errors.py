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


spec = tf.TensorSpec([], tf.int32)
show('type', lambda: Dataset.from_generator(lambda: iter([1, 'a']), output_signature=spec))
show('shape', lambda: Dataset.from_generator(lambda: iter([1, [2]]), output_signature=spec))
show('structure', lambda: Dataset.from_generator(lambda: iter([(1, 2), (1,)]), output_signature=(spec, spec)))


def failing():
    yield 1
    raise ValueError('in the generator')


found = iter(Dataset.from_generator(failing, output_signature=spec))
print(next(found))
try:
    next(found)
except Exception as error:
    print(type(error).__name__, 'ValueError: in the generator' in str(error))
