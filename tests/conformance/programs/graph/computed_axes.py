import tensorflow as tf, numpy as np

v1 = tf.compat.v1
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10
Y = np.arange(24, dtype=np.float32).reshape(4, 3, 2) / 7


def shown(values):
    return f'{float(np.sum(values * np.arange(values.size).reshape(values.shape))):.4g}'


def tell(label, build, *feeds):
    with tf.Graph().as_default(), v1.Session() as session:
        inputs = [v1.placeholder(value.dtype, shape) for shape, value in feeds]
        fed = dict(zip(inputs, [value for _, value in feeds]))
        try:
            out = build(*inputs)
            (gradient,) = tf.gradients(out * out, inputs[:1])
            print(label, out.shape, *[(one.shape, shown(one)) for one in session.run([out, gradient], fed)])
        except (ValueError, TypeError, tf.errors.InvalidArgumentError) as error:
            print(label, type(error).__name__, str(error).splitlines()[0][:60])


for name in ('softmax', 'log_softmax'):
    function = getattr(tf.nn, name)
    for shape in ([2, 3, 4], [None, None, 4], None):
        for axis in (0, 1, -2, -3):
            tell(f'{name} {shape} {axis}', lambda x, k: function(x, axis=k), (shape, X), ([], np.int32(axis)))
    tell(f'{name} of version 1', lambda x, k: getattr(v1.nn, name)(x, axis=k), ([2, 3, 4], X), ([], np.int32(1)))
    tell(f'{name} constant', lambda x: function(x, axis=tf.constant(1)), ([2, 3, 4], X))
    tell(f'{name} vector', lambda x: function(x, axis=tf.constant([1])), ([2, 3, 4], X))

AXES = ([[2], [0]], [[1, 2], [1, 0]], [[-2, -1], [1, 0]])
for a, b in (([2, 3, 4], [4, 3, 2]), (None, None), ([2, 3, 4], None), ([None, 3, None], [4, None, 2])):
    for axes in AXES:
        tell(f'{a} {b} constant {axes}', lambda x, y: tf.tensordot(x, y, axes), (a, X), (b, Y))
        for shape in ([2, len(axes[0])], [2, None]):
            tell(f'{a} {b} computed {axes} {shape}', lambda x, y, k: tf.tensordot(x, y, k), (a, X), (b, Y),
                 (shape, np.int32(axes)))
    tell(f'{a} {b} 1', lambda x, y: tf.tensordot(x, y, 1), (a, X), (b, Y))
    tell(f'{a} {b} pair', lambda x, y, k: tf.tensordot(x, y, [k, k]), (a, X), (b, Y), ([1], np.int32([1])))
