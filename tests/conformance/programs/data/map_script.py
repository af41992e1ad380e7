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
