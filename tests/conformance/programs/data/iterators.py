found = iter(Dataset.range(3))
print(type(found).__name__, found.element_spec)
print(next(found), found.get_next(), found.next())
for function in (lambda: next(found), found.get_next):
    try:
        function()
    except StopIteration as error:
        print('StopIteration', error.args)
    except tf.errors.OutOfRangeError as error:
        print(type(error).__name__, error.message)
print(iter(found) is found)
two = Dataset.range(3)
a, b = iter(two), iter(two)
print(next(a), next(a), next(b))
print([int(x) for x in a], [int(x) for x in b])
print(isinstance(found, tf.data.Iterator))
optional = iter(Dataset.range(1)).get_next_as_optional()
print(optional.has_value(), optional.get_value(), optional.element_spec)
ended = iter(Dataset.range(0)).get_next_as_optional()
print(ended.has_value())
show('empty', ended.get_value)
made = tf.data.experimental.Optional.from_value((1, 'a'))
print(made.has_value(), made.get_value(), made.element_spec)
print(tf.data.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).has_value())
