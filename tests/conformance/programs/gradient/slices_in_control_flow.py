import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
T = [[1., 2.], [3., 4.], [5., 6.]]
def shown(g):
    return (type(g).__name__, g.values.shape, g.indices.shape) if isinstance(g, tf.IndexedSlices) else (g.shape,)
def value(v):
    return tuple(part.tolist() for part in v) if isinstance(v, tuple) else v.tolist()
def case(label, build, variable=False):
    with tf.Graph().as_default():
        x = tf1.get_variable('v', initializer=tf.constant(T), use_resource=True) if variable else tf.constant(T)
        p = tf1.placeholder_with_default(True, [])
        g = tf.gradients(build(x, p), x)[0]
        with tf1.Session() as s:
            s.run(tf1.global_variables_initializer())
            print(label, variable, *shown(g), value(s.run(g, {p: True})), value(s.run(g, {p: False})))
for variable in (False, True):
    case('both', lambda x, p: tf.cond(p, lambda: tf.gather(x, [0, 2, 0]), lambda: tf.gather(x, [1, 1, 1]) * 2.), variable)
    case('one dense', lambda x, p: tf.cond(p, lambda: tf.gather(x, [0, 2]), lambda: x * 2.), variable)
    case('one without', lambda x, p: tf.cond(p, lambda: tf.gather(x, [0, 2]), lambda: tf.zeros([2, 2])), variable)
    case('no gradient in one', lambda x, p: tf.cond(
        p, lambda: tf.gather(x, [0, 2]), lambda: tf.gather(tf.stop_gradient(x * 1.), [0, 1])), variable)
    case('other indices', lambda x, p: tf.cond(p, lambda: tf.gather(x, [0, 2]), lambda: tf.gather(x, tf.constant([1], tf.int64))), variable)
    case('nested', lambda x, p: tf.cond(p, lambda: tf.cond(p, lambda: tf.gather(x, [0, 2]), lambda: x), lambda: x * 3.), variable)
    case('switch_case', lambda x, p: tf.switch_case(
        tf.cast(p, tf.int32), [lambda: tf.gather(x, [0, 2]), lambda: tf.gather(x, [1])]), variable)
    case('lookup', lambda x, p: tf.cond(p, lambda: tf.nn.embedding_lookup(x, [0, 2]), lambda: tf.gather(x, [1])), variable)
    case('function', lambda x, p: tf.function(lambda: tf.gather(x, [0, 2, 0]))(), variable)
    case('while', lambda x, p: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.gather(x, i)), [0, tf.zeros([2])])[1], variable)
    case('map_fn', lambda x, p: tf.map_fn(lambda i: tf.gather(x, i), tf.constant([0, 2, 0]), fn_output_signature=tf.float32), variable)
case('twice', lambda x, p: tf.reduce_sum(tf.cond(p, lambda: tf.gather(x, [0, 2]), lambda: x)) + tf.reduce_sum(tf.gather(x, [1])))
v = tf.Variable(T)
@tf.function
def f(p):
    with tf.GradientTape() as t:
        y = tf.cond(p, lambda: tf.gather(v, [0, 2, 0]), lambda: tf.gather(v, [1, 1, 1]) * 2.)
    return t.gradient(y, v)
print(f(tf.constant(True)))
@tf.function
def f(p):
    return tf.cond(p, lambda: tf.gather(v, [0, 2, 0]), lambda: tf.gather(v, [1, 1, 1]) * 2.)
with tf.GradientTape() as t:
    y = f(tf.constant(False))
print(t.gradient(y, v))
with tf.GradientTape() as t2:
    with tf.GradientTape() as t:
        y = f(tf.constant(True)) ** 2
    g = tf.convert_to_tensor(t.gradient(y, v))
print(t2.gradient(g, v))
