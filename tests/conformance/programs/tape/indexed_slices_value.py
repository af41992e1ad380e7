import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
i = tf.IndexedSlices(values=tf.constant([[1., 2.]]), indices=tf.constant([1]), dense_shape=tf.constant([3, 2]))
print(i)
print(tf.convert_to_tensor(i))
print(i.values, i.indices, i.dense_shape, i.dtype, i.shape, i.device)
print(-i)
j = tf.IndexedSlices(values=tf.constant([[1., 2.]]), indices=tf.constant([1]))
print(j, j.shape)
show('no shape', lambda: tf.convert_to_tensor(j))
show('add', lambda: tf.add_n([i, i]))
show('plus', lambda: i + tf.ones([3, 2]))
show('dtype', lambda: tf.convert_to_tensor(i, tf.int32))
show('sum', lambda: tf.reduce_sum(i))
