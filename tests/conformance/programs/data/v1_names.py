import tensorflow as tf, numpy as np

v1 = tf.compat.v1


with tf.Graph().as_default() as graph:
    dataset = v1.data.Dataset.from_tensor_slices([1, 2]).map(lambda x: x).batch(2).repeat(2)
    v1.data.make_initializable_iterator(dataset).get_next()
    print([(op.name, op.type) for op in graph.get_operations()])
with tf.Graph().as_default() as graph:
    dataset = v1.data.Dataset.zip((v1.data.Dataset.range(2), v1.data.Dataset.range(3))).filter(lambda a, b: a < b)
    v1.data.make_one_shot_iterator(dataset).get_next()
    print([op.type for op in graph.get_operations() if op.type != 'Const'])
