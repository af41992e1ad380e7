show('plain', lambda: Dataset.range(3).map(lambda x: x * 2))
show('two', lambda: Dataset.range(3).map(lambda x: (x, x + 1)))
show('unpacked', lambda: Dataset.range(3).map(lambda x: (x, x + 1)).map(lambda a, b: a * b))
show('dict', lambda: Dataset.from_tensor_slices({'a': [1, 2]}).map(lambda d: {'b': d['a'] + 1}))
show('list', lambda: Dataset.range(2).map(lambda x: [x, x + 1]))
show('constant', lambda: Dataset.range(2).map(lambda x: 'a'))
show('array', lambda: Dataset.range(2).map(lambda x: np.ones(2)))
show('none', lambda: Dataset.range(2).map(lambda x: (x, None)))
show('object', lambda: Dataset.range(2).map(lambda x: object()))
show('not callable', lambda: Dataset.range(2).map(3))
show('wrong count', lambda: Dataset.from_tensors((1, 2)).map(lambda a, b: (b, a)))
show('shape', lambda: Dataset.range(2).map(lambda x: tf.fill([2, 3], x)).element_spec)
show('unknown shape', lambda: Dataset.range(1, 3).map(lambda x: tf.fill([x], x)))
show('traced once', lambda: None)
calls = []


def count(x):
    calls.append(type(x).__name__ != 'EagerTensor')
    return x


print(len(list(Dataset.range(5).map(count))), calls)
