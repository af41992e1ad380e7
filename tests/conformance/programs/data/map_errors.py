import tensorflow as tf, numpy as np

Dataset = tf.data.Dataset


try:
    list(Dataset.range(2).map(lambda x: 1 // x))
except Exception as error:
    print(type(error).__name__, 'Integer division by zero' in str(error), 'Error in user-defined function' in str(error))
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
