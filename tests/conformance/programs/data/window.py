def rows(dataset):
    return [[int(x) for x in window] for window in dataset]


show('plain', lambda: rows(Dataset.range(7).window(3)))
show('shift', lambda: rows(Dataset.range(7).window(3, shift=2)))
show('shift 1 drop', lambda: rows(Dataset.range(5).window(3, shift=1, drop_remainder=True)))
show('stride', lambda: rows(Dataset.range(9).window(3, shift=1, stride=2, drop_remainder=True)))
show('stride rest', lambda: rows(Dataset.range(7).window(3, shift=2, stride=2)))
show('gap', lambda: rows(Dataset.range(10).window(2, shift=4)))
show('gap drop', lambda: rows(Dataset.range(9).window(2, shift=4, drop_remainder=True)))
show('batch', lambda: Dataset.range(5).window(2).flat_map(lambda w: w.batch(2)))
show('spec', lambda: Dataset.range(3).window(2).element_spec)
show('pair spec', lambda: Dataset.from_tensor_slices(([1, 2], ['a', 'b'])).window(2).element_spec)
show('pair', lambda: [(list(a.as_numpy_iterator()), list(b.as_numpy_iterator())) for a, b in Dataset.from_tensor_slices(([1, 2, 3], ['a', 'b', 'c'])).window(2)])
show('cardinality', lambda: [int(Dataset.range(n).window(3, shift=2, drop_remainder=d).cardinality()) for n in range(8) for d in (False, True)])
