import tensorflow as tf, numpy as np


def said(name, call):
    try:
        print(name, call())
    except Exception as error:
        print(name, type(error).__name__, error)


two, wide = tf.ones([2, 3]), tf.ones([2, 4])
whole = tf.constant([6, 7])
said('product', lambda: two * wide)
said('larger', lambda: tf.maximum(two, wide))
said('equal', lambda: tf.equal(two, wide))
said('quotient', lambda: whole // 0)
said('remainder', lambda: whole % 0)
said('power', lambda: tf.pow(whole, -2))
said('numbers', lambda: tf.debugging.check_numerics(tf.constant([np.inf, np.nan]), 'step 3'))
said('concat', lambda: tf.concat([two, wide], 0))
said('stack', lambda: tf.stack([two, wide]))
said('split', lambda: tf.split(two, 2, 1))
said('unstack', lambda: tf.unstack(two, 3))
said('index', lambda: two[0, 8])
said('squeeze', lambda: tf.squeeze(two, 1))
said('new axis', lambda: tf.expand_dims(two, 4))
said('sum', lambda: tf.reduce_sum(two, 3))
said('argmax', lambda: tf.argmax(two, 2))
said('running', lambda: tf.cumsum(two, 2))
said('ensure', lambda: tf.ensure_shape(two, [7]))
said('gather, list', lambda: tf.gather(two, [4]))
said('gather, tensor', lambda: tf.gather(two, tf.constant([4])))
said('coordinates', lambda: tf.gather_nd(two, [[1, 8]]))
said('scatter', lambda: tf.scatter_nd([[6]], [1], [3]))
said('update', lambda: tf.tensor_scatter_nd_update(two, [[5]], [[1.0, 1.0, 1.0]]))
said('reshape', lambda: tf.reshape(two, [5]))
said('pad', lambda: tf.pad(two, [[1, 1]]))
said('top', lambda: tf.math.top_k(two, 4))
said('inverse', lambda: tf.linalg.inv(tf.zeros([2, 2])))
said('where', lambda: tf.where(two > 0, two, wide))
said('steps', lambda: tf.range(0, 4, 0))
said('labels', lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([5, 5], two))
print(tf.linspace([0.0, 8.0], [4.0, 16.0], 3, axis=-1))
print(tf.linspace([0.0, 8.0], [4.0, 16.0], 3, axis=1).shape, tf.linspace([[0.0], [1.0]], [[4.0], [2.0]], 3, axis=1).shape)
