import tensorflow as tf, numpy as np

Dataset = tf.data.Dataset


made = []


def numbers():
    made.append(len(made))
    yield from range(2)


dataset = Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64))
print(made)
print([int(x) for x in dataset], made)
print([int(x) for x in dataset], made)
print([int(x) for x in dataset.take(1)], made)
print([int(x) for x in dataset.repeat(2)], made)
