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


E = tf.data.experimental
show('unbatch', lambda: Dataset.range(3).batch(2).apply(E.unbatch()))
show('enumerate', lambda: Dataset.from_tensor_slices(['a']).apply(E.enumerate_dataset(3)))
show('map_and_batch', lambda: Dataset.range(5).apply(E.map_and_batch(lambda x: x + 1, 2)))
show('take_while', lambda: Dataset.range(5).apply(E.take_while(lambda x: x < 2)))
show('single', lambda: E.get_single_element(Dataset.range(3).batch(3)))
show('method', lambda: Dataset.from_tensors((1, 'a')).get_single_element())
show('structure', lambda: E.get_structure(Dataset.range(3).batch(2)))
show('autotune', lambda: (tf.data.AUTOTUNE, E.AUTOTUNE, E.INFINITE_CARDINALITY))
show('apply', lambda: Dataset.range(3).apply(lambda d: d.repeat(2)))
show('apply none', lambda: Dataset.range(3).apply(lambda d: 3))
options = tf.data.Options()
options.deterministic = False
show('options', lambda: Dataset.range(3).with_options(options).options().deterministic)
show('default', lambda: Dataset.range(3).options().deterministic)
