v1 = tf.compat.v1

found = Dataset.from_tensor_slices({'a': [1, 2], 'b': ['x', 'y']}).as_numpy_iterator()
for element in found:
    print({key: (type(element[key]).__name__, element[key]) for key in sorted(element)})
print([type(x).__name__ for x in Dataset.range(2).as_numpy_iterator()])
print([(x.shape, x.dtype) for x in Dataset.range(4).batch(2).as_numpy_iterator()])
with tf.Graph().as_default():
    show('graph', lambda: v1.data.Dataset.range(3).as_numpy_iterator())
    show('iter', lambda: iter(v1.data.Dataset.range(3)))
    show('len', lambda: len(v1.data.Dataset.range(3)))
