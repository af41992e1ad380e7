import tensorflow as tf, numpy as np


def said(name, call):
    try:
        print(name, repr(call()))
    except Exception as error:
        print(name, type(error).__name__, error)


marks, grid = tf.constant([30, 10, 20]), tf.constant([[1.0, 2.0], [3.0, 4.0]])
said('mask', lambda: marks[marks >= 20])
said('mask of NumPy', lambda: marks[np.array([False, True, True])])
said('rows', lambda: grid[tf.constant([False, True])])
said('elements', lambda: grid[grid != 2])
said('short mask', lambda: marks[tf.constant([True])])
said('True', lambda: marks[True])
said('variable', lambda: tf.Variable([5, 6])[tf.constant([True, False])])
said('in', lambda: (10 in marks, 11 in marks, tf.constant(20) in marks, b'x' in tf.constant(['x', 'y'])))
said('in a variable', lambda: 6 in tf.Variable([5, 6]))


@tf.function
def high(x):
    return x[x > 2], x[:, tf.newaxis]


said('in a function', lambda: [part.numpy().tolist() for part in high(tf.constant([1, 5, 3]))])
with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.int32, [4])
    print(x[x > 0])

weight = tf.Variable([2.0, 3.0])
for line in ('weight += 1.0', 'weight *= 2.0', 'weight /= 2.0', 'weight **= 2.0'):
    said(line, lambda line=line: exec(line, {'weight': weight}))
print(weight.numpy())
for line in ('weight //= 2.0', 'weight %= 2.0'):
    scope = {'weight': weight}
    exec(line, scope)
    print(line, scope['weight'])
with tf.Graph().as_default():
    v = tf.compat.v1.get_variable('v', initializer=1.0)
    said('in a graph', lambda: exec('v += 1', {'v': v}))
