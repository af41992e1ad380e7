import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
KINDS = ('If', 'StatelessIf', 'Case', 'StatelessCase', 'While', 'StatelessWhile', 'PartitionedCall', 'StatefulPartitionedCall')
def case(label, build, feeds=()):
    with tf.Graph().as_default() as g:
        p = tf1.placeholder_with_default(True, [], name='p')
        x = tf.constant(3., name='x')
        y = build(x, p)
        print(label, [[t.name for t in op.inputs] for op in g.get_operations() if op.type in KINDS])
        first = tf.gradients(y, x)[0]
        second = tf.gradients(first, x)[0]
        with tf1.Session() as s:
            for fed in (True, False):
                print(label, fed, s.run(first, {p: fed}), None if second is None else s.run(second, {p: fed}))
ITEMS = [1., 2., 3.]
case('cond', lambda x, p: tf.cond(p, lambda: x * x * 2., lambda: x * 3.))
case('one branch', lambda x, p: tf.cond(p, lambda: x * x * 2., lambda: 3.))
case('nested', lambda x, p: tf.cond(p, lambda: tf.cond(p, lambda: x ** 3., lambda: x), lambda: x * 3.))
case('switch_case', lambda x, p: tf.switch_case(tf.cast(p, tf.int32), [lambda: x * 2., lambda: x * x]))
case('case', lambda x, p: tf.case([(tf.logical_not(p), lambda: x * 2.), (p, lambda: x * x)], default=lambda: x))
case('while', lambda x, p: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 2.])[1])
case('condition', lambda x, p: tf.while_loop(lambda a: a < x * 10., lambda a: a * x, [2.])[0])
case('cond in while', lambda x, p: tf.while_loop(
    lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(p, lambda: a * x, lambda: a + x)), [0, 2.])[1])
case('while in cond', lambda x, p: tf.cond(p, lambda: tf.while_loop(
    lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1], lambda: x))
case('function', lambda x, p: tf.function(lambda: x * x * 5.)())
def within(x, p):
    inner = tf.function(lambda: x * x)
    return tf.function(lambda: inner() * x)()
case('function in function', within)
case('cond in function', lambda x, p: tf.function(lambda: tf.cond(p, lambda: x * x, lambda: x))())
case('map_fn', lambda x, p: tf.map_fn(lambda e: e * x * x, tf.constant(ITEMS)))
case('scan', lambda x, p: tf.scan(lambda a, e: a * x + e, tf.constant(ITEMS)))
case('foldl', lambda x, p: tf.foldl(lambda a, e: a * x + e, tf.constant(ITEMS)))
case('foldr', lambda x, p: tf.foldr(lambda a, e: a * x + e, tf.constant(ITEMS)))
@tf.function
def f():
    x = tf.constant(3.)
    y = tf.cond(tf.constant(True), lambda: x * x, lambda: x)
    z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, 2.])[1]
    return tf.gradients(y, x)[0], tf.gradients(z, x)[0]
print('made in a function', [g.numpy() for g in f()])
with tf.Graph().as_default():
    x = tf.constant(1., name='x')
    g = tf.function(lambda: x * 5.)
    print('captured', [t.name for t in g.get_concrete_function().captured_inputs])
with tf.Graph().as_default():
    x = tf.constant(2., name='x')
    y = x * x * x
    def inside():
        return tf.gradients(y, x)[0]
    with tf1.Session() as s:
        print('differentiated inside', s.run([tf.function(inside)(), tf.cond(x > 0., inside, lambda: 0.),
                                              tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + inside()), [0, 0.])[1]]))
