made = []


def note(x):
    made.append(int(x))
    return x


dataset = Dataset.range(3).map(lambda x: tf.numpy_function(note, [x], tf.int64)).cache()
print(made)
print([int(x) for x in dataset], made)
print([int(x) for x in dataset], made)
partly = Dataset.range(3).map(lambda x: tf.numpy_function(note, [x], tf.int64)).cache()
print([int(x) for x in partly.repeat(2)], made)
show('prefetch', lambda: Dataset.range(4).prefetch(2))
show('prefetch 0', lambda: Dataset.range(4).prefetch(0))
show('prefetch auto', lambda: Dataset.range(4).prefetch(tf.data.AUTOTUNE))
show('prefetch -2', lambda: Dataset.range(4).prefetch(-2))
show('nested', lambda: Dataset.range(6).prefetch(1).batch(2).prefetch(1))
