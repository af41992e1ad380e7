import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
x = tf.ragged.constant([[1., 2.], [3.]])
y = tf.ragged.constant([[10., 20.], [30.]])
for name, f in (('add', lambda a, b: a + b), ('sub', lambda a, b: a - b), ('mul', lambda a, b: a * b), ('div', lambda a, b: a / b), ('floordiv', lambda a, b: a // b), ('mod', lambda a, b: a % b), ('pow', lambda a, b: a ** b),
                ('lt', lambda a, b: a < b), ('ge', lambda a, b: a >= b), ('eq', lambda a, b: a == b), ('ne', lambda a, b: a != b)):
    for label, p, q in (('xy', x, y), ('x2', x, 2.), ('2x', 2., x), ('x[1]', x, [[1.], [2.]]), ('tx', tf.constant([[1.], [2.]]), x), ('xt', x, tf.constant(3.))):
        T(f'{name} {label}', lambda: f(p, q))
for name in 'abs negative sign square sqrt exp sin tanh sigmoid floor'.split():
    T(name, lambda: getattr(tf, name)(x))
T('neg', lambda: -x); T('abs', lambda: abs(-x)); T('math.log', lambda: tf.math.log(x)); T('relu', lambda: tf.nn.relu(x - 2.))
i = tf.ragged.constant([[1, 2], [3]])
T('and', lambda: (i > 1) & (i < 3)); T('or', lambda: (i > 2) | (i < 2)); T('xor', lambda: (i > 1) ^ (i < 3)); T('not', lambda: ~(i > 1))
T('mixed dtypes', lambda: x + i); T('other rows', lambda: x + tf.ragged.constant([[1.], [2., 3.]])); T('too long', lambda: x + [[1., 2.], [3., 4.]])
T('maximum', lambda: tf.maximum(x, 2.)); T('add', lambda: tf.add(x, 1.)); T('multiply', lambda: tf.multiply(2., x)); T('equal', lambda: tf.equal(x, 2.)); T('div ints', lambda: i / 2)
T('map', lambda: tf.ragged.map_flat_values(lambda v: v * 2, x)); T('map two', lambda: tf.ragged.map_flat_values(tf.add, x, y)); T('map shape', lambda: tf.ragged.map_flat_values(tf.reduce_sum, x))
T('strings', lambda: tf.ragged.constant([['a'], ['b']]) + 'x')
