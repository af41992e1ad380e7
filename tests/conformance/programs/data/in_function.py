@tf.function
def total(dataset):
    result = tf.constant(0, tf.int64)
    for x in dataset:
        result += x
    return result


@tf.function
def inside():
    result = tf.constant(0, tf.int64)
    for x in tf.data.Dataset.range(5).map(lambda y: y * 2):
        if x == 6:
            break
        result += x
    return result


@tf.function
def first():
    return next(iter(tf.data.Dataset.range(7, 9)))


@tf.function
def reduced(n):
    return tf.data.Dataset.range(n).reduce(np.int64(0), lambda s, x: s + x)


@tf.function
def pairs():
    a, b = tf.constant(0, tf.int64), tf.constant(0.)
    for x, y in tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.from_tensor_slices([1., 2., 3.]))):
        a += x
        b += y
    return a, b


show('argument', lambda: total(Dataset.range(5)))
show('again', lambda: total(Dataset.range(3)))
show('inside', inside)
show('first', first)
show('reduced', lambda: reduced(tf.constant(5, tf.int64)))
show('pairs', pairs)
iterator = iter(Dataset.range(5))


@tf.function
def step():
    return iterator.get_next() * 10


print(step(), step(), next(iterator), step())


@tf.function
def of(iterator):
    return next(iterator)


print(of(iterator))
