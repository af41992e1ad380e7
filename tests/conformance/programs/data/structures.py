import collections
Pair = collections.namedtuple('Pair', 'left right')
dataset = Dataset.from_tensor_slices(Pair([1, 2], ['a', 'b']))
show('namedtuple', lambda: dataset.element_spec)
show('map', lambda: dataset.map(lambda p: Pair(p.left + 1, p.right)).element_spec)
for element in dataset:
    print(element.left, element.right)
show('ordered', lambda: Dataset.from_tensors(collections.OrderedDict([('b', 1), ('a', 2)])).element_spec)
show('deep', lambda: Dataset.from_tensors({'a': (1, {'b': 2.}), 'c': [[1], [2]]}).batch(1).element_spec)
show('deep values', lambda: Dataset.from_tensors({'a': (1, {'b': 2.}), 'c': [[1], [2]]}).map(lambda d: d['a'][1]['b']))
show('zip map', lambda: Dataset.zip(({'x': Dataset.range(2)}, Dataset.range(2))).map(lambda d, y: d['x'] + y))
show('batched pair', lambda: Dataset.zip((Dataset.range(3), Dataset.range(3))).batch(2).map(lambda a, b: tf.reduce_sum(a * b)))
