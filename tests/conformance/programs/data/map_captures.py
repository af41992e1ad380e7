offset = tf.constant(10, tf.int64)
variable = tf.Variable(5, dtype=tf.int64)
table = np.array([3, 1, 2])
show('tensor', lambda: Dataset.range(3).map(lambda x: x + offset))
dataset = Dataset.range(3).map(lambda x: x + variable)
show('variable', lambda: dataset)
variable.assign(100)
show('assigned', lambda: dataset)
show('array', lambda: Dataset.range(3).map(lambda x: tf.gather(table, x)))


def factory(n):
    return Dataset.range(3).map(lambda x: x * n)


show('python', lambda: factory(4))


def counting(x):
    variable.assign_add(1)
    return x


print([int(x) for x in Dataset.range(3).map(counting)], int(variable))
