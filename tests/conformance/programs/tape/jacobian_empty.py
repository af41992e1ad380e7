import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', [l.strip() for l in str(e).splitlines() if l.strip()][-1])
FUNCTIONS = dict(square=lambda x: x * x, sums=lambda x: tf.reduce_sum(x, 1), wide=lambda x: tf.concat([x, x], 1), apart=tf.ones_like)
def taped(f, x, method):
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    return getattr(t, method)(y, x)
for sizes in ([2, 0], [0, 2], [0, 0], [2, 2]):
    for name, f in FUNCTIONS.items():
        def jacobian():
            j = taped(f, tf.ones(sizes), 'jacobian')
            return None if j is None else (j.shape, j.numpy().tolist())
        show(f'jacobian {name} {sizes}', jacobian)
        if not sizes[0] and name != 'sums':
            continue                            # TensorFlow divides by the batch size
        show(f'batch {name} {sizes}', lambda: taped(f, tf.ones(sizes), 'batch_jacobian').numpy().tolist())
        show(f'function {name} {sizes}', lambda: tf.function(lambda x: taped(f, x, 'batch_jacobian'))(tf.ones(sizes)).numpy().tolist())
        unknown = tf.function(lambda x: taped(f, x, 'batch_jacobian'), input_signature=[tf.TensorSpec([None, None])])
        show(f'unknown {name} {sizes}', lambda: unknown(tf.ones(sizes)).numpy().tolist())
        def graph():
            with tf.Graph().as_default(), tf1.Session() as s:
                return s.run(taped(f, tf1.placeholder_with_default(tf.ones(sizes), [None, None]), 'batch_jacobian')).tolist()
        show(f'graph {name} {sizes}', graph)
def refused(shape, to):
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, shape)
        return taped(lambda x: tf1.placeholder_with_default(x, None) if to is None else tf.reshape(x, to), x, 'batch_jacobian').shape
for shape, to in (([2, 3], [3, 2]), ([2, 3], [6]), ([6], [2, 3]), (None, [2, 3]), ([2, 3], None), ([None, 3], [3, -1])):
    show(f'{shape} {to}', lambda: refused(shape, to))
@tf.function(input_signature=[tf.TensorSpec([None, None])])
def other(x):
    return taped(lambda x: tf.ones([2, 3]), x, 'batch_jacobian')
try:
    other(tf.ones([0, 2]))
except tf.errors.InvalidArgumentError as e:
    print('Condition x == y did not hold' in str(e))
