import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
x = tf.IndexedSlices(tf.constant([[1., 2.], [3., 4.]]), tf.constant([0, 2]), tf.constant([4, 2]))
print(x); T('shape', lambda: x.shape); T('dtype', lambda: x.dtype); T('spec', lambda: x._type_spec); T('dense', lambda: tf.convert_to_tensor(x)); T('neg', lambda: tf.convert_to_tensor(-x)); T('negative', lambda: tf.negative(x)); T('square', lambda: tf.square(x)); T('no shape', lambda: tf.convert_to_tensor(tf.IndexedSlices(x.values, x.indices)))
T('dtype conflict', lambda: tf.convert_to_tensor(x, tf.int32)); T('add', lambda: x + 1.); T('add_n', lambda: tf.add_n([x, tf.ones([4, 2])])); T('mask', lambda: tf.sparse.mask(x, [0]).values); T('is_tensor', lambda: tf.is_tensor(x)); T('nest', lambda: len(tf.nest.flatten(x, expand_composites=True))); T('reduce', lambda: tf.reduce_sum(x))
T('function', lambda: type(tf.function(lambda a: a)(x)).__name__); T('function value', lambda: tf.function(lambda a: tf.convert_to_tensor(a) * 2)(x)); T('py_function', lambda: tf.py_function(lambda a: print(type(a).__name__) or a, [x], tf.float32)); T('returned', lambda: tf.py_function(lambda: x, [], tf.float32))
v = tf.Variable(tf.zeros([4, 2]))
with tf.GradientTape() as tape: y = tf.reduce_sum(tf.gather(v, [1, 1, 3]) * 2.)
g = tape.gradient(y, v)
T('gradient', lambda: type(g).__name__); T('values', lambda: tf.convert_to_tensor(g));
s = tf.IndexedSlicesSpec([4, 2])
T('spec', lambda: s); T('compat', lambda: s.is_compatible_with(x)); T('spec 2', lambda: tf.IndexedSlicesSpec([4, 2], tf.float32, tf.int32, tf.int32).is_compatible_with(x)); T('value_type', lambda: s.value_type.__name__)
