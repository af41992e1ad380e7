import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
def show(label, f):
    try:
        found = f()
        print(label, None if found is None else np.round(found, 3).tolist())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).split(' In general')[0])
FUNCTIONS = {
    'bincount': lambda x: tf.math.bincount([0, 1], weights=x), 'truncatemod': lambda x: tf.truncatemod(x, 2.),
    'truncatediv': lambda x: tf.truncatediv(x, 2.), 'unique': lambda x: tf.unique(x)[0],
    'bitcast': lambda x: tf.bitcast(tf.bitcast(x, tf.int32), tf.float32), 'complex bits': lambda x: tf.math.real(tf.bitcast(tf.cast(x, tf.float64), tf.complex64)),
    'nextafter': lambda x: tf.math.nextafter(x * x, 5.), 'towards': lambda x: tf.math.nextafter(tf.zeros([2]), x),
    'from a dataset': lambda x: tf.data.Dataset.from_tensors(x).get_single_element(),
    'optional': lambda x: tf.data.experimental.Optional.from_value(x).get_value() ** 2,
    'is_nan': lambda x: tf.cast(tf.math.is_nan(x), tf.float32), 'argmax': lambda x: tf.cast(tf.argmax(x), tf.float32),
    'floor': tf.floor, 'guaranteed': lambda x: tf.raw_ops.GuaranteeConst(input=x),
    'in a branch': lambda x: tf.cond(tf.reduce_sum(x) > 0., lambda: tf.unique(x)[0], lambda: x),
    'in a loop': lambda x: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.truncatemod(a, x)), [0, x])[1],
    'in a function': lambda x: tf.function(lambda: tf.unique(x)[0] * 2.)(),
}
for name, f in FUNCTIONS.items():
    def graph():
        with tf.Graph().as_default(), tf1.Session() as s:
            x = tf.constant([1., 2.])
            found = tf.gradients(f(x), x)[0]
            return None if found is None else s.run(found)
    show(f'graph {name}', graph)
    def tape():
        x = tf.constant([1., 2.])
        with tf.GradientTape() as t:
            t.watch(x)
            y = f(x)
        found = t.gradient(y, x)
        return None if found is None else found.numpy()
    if name not in ('in a branch', 'in a loop'):
        show(f'tape {name}', tape)
