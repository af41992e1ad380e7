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
