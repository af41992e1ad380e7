import tensorflow as tf, numpy as np

Dataset = tf.data.Dataset


def fail_at_two(x):
    if x == 2:
        raise ValueError('two is bad')
    return x


dataset = Dataset.range(5).map(lambda x: tf.py_function(fail_at_two, [x], tf.int64))
found = iter(dataset)
for _ in range(5):
    try:
        print(next(found))
    except Exception as error:
        text = str(error)
        print(type(error).__name__, error.op, error.error_code, 'ValueError: two is bad' in text, '[[{{node EagerPyFunc}}]] [Op:IteratorGetNext]' in text, 'user-defined function passed to MapDataset:1 transformation' in text)
try:
    next(found)
except StopIteration:
    print('end')
for kind in (KeyError, tf.errors.NotFoundError, ZeroDivisionError, TypeError, StopIteration, MemoryError, NotImplementedError):
    def fail(x, kind=kind):
        raise kind(None, None, 'm') if kind is tf.errors.NotFoundError else kind('m')
    try:
        list(Dataset.range(1).map(lambda x: tf.numpy_function(fail, [x], tf.int64)))
        print(kind.__name__, 'nothing')
    except Exception as error:
        print(kind.__name__, type(error).__name__)
