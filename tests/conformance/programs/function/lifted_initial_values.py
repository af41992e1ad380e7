import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
class Holder:
    v = None
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[-1].strip())
def made(start, *args, **settings):
    h = Holder()
    @tf.function
    def f(*a):
        if h.v is None:
            h.v = tf.Variable(start(*a), **settings)
        return tf.identity(h.v)
    values = [f(*args).numpy().tolist(), f(*(a + 1. for a in args)).numpy().tolist()]
    return values, h.v.numpy().tolist(), h.v.shape, h.v.name
C, captured, w = tf.constant, tf.constant([5., 6.]), tf.Variable([7., 8.])
def steps(x):
    return tf.while_loop(lambda i: i < 10., lambda i: i * 2., [x])[0]
for label, start, args in (
        ('zeros', lambda: tf.zeros([2]), ()), ('computed', lambda: tf.ones([2]) * 3. + 1., ()),
        ('argument', lambda x: x * 2. + 1., [C(2.)]), ('function', lambda: lambda: tf.ones([2]) * 3., ()),
        ('function of an argument', lambda x: lambda: x * 2. + 1., [C(2.)]), ('shape of one', lambda x: tf.zeros(tf.shape(x)), [C([1., 2.])]),
        ('captured', lambda: captured * 2., ()), ('variable', lambda: w * 2., ()), ('list', lambda x: [x, x * 2., 1.], [C(2.)]),
        ('cond', lambda x: tf.cond(x > 1., lambda: x, lambda: -x), [C(2.)]), ('while', steps, [C(2.)]),
        ('map', lambda x: tf.map_fn(lambda a: a * 3., x), [C([2., 3.])]), ('call', lambda x: tf.function(lambda a: a * 3.)(x), [C(2.)]),
        ('gradient', lambda x: tf.gradients(x ** 3, x)[0], [C(2.)]),
        ('unknown size', lambda x: tf.boolean_mask(x, x > 1.), [C([2., 0., 3.])]),
        ('unknown rank', lambda x: tf.numpy_function(lambda a: a * np.float32(3.), [x], tf.float32), [C([2.])])):
    show(label, lambda: made(start, *args))
show('dtype', lambda: made(lambda x: tf.cast(x, tf.int32), C(2.7)))
show('wider', lambda: made(lambda x: tf.zeros([2]) + x, C(2.), shape=[None]))
def in_parts():
    h = Holder()
    @tf.function
    def inner(x):
        if h.v is None:
            h.v = tf.Variable(x * 2.)
        return h.v * x
    @tf.function
    def outer(x):
        return inner(x + 1.)
    return outer(C(1.)).numpy(), outer(C(2.)).numpy(), h.v.numpy()
show('in a function called', in_parts)
def two():
    h, k = Holder(), Holder()
    @tf.function
    def f(x):
        if h.v is None:
            h.v = tf.Variable(x * 2.)
            k.v = tf.Variable(h.v + 1.)
        return h.v * k.v
    return f(C(3.)).numpy(), f(C(2.)).numpy(), h.v.numpy(), k.v.numpy()
show('of another', two)
def looped():
    h = Holder()
    @tf.function
    def f(x):
        def body(i, a):
            if h.v is None:
                h.v = tf.Variable(tf.ones([]) * 2.)
            return i + 1, a * h.v
        return tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
    return f(C(1.)).numpy(), f(C(2.)).numpy()
show('in a loop', looped)
def in_branch():
    h = Holder()
    @tf.function
    def f(x):
        def branch():
            if h.v is None:
                h.v = tf.Variable(tf.ones([]) * 2.)
            return h.v * x
        return tf.cond(x > 0., branch, lambda: x)
    return f(C(1.)).numpy(), f(C(2.)).numpy(), h.v.numpy()
show('in a branch', in_branch)
def in_graph():
    with tf.Graph().as_default():
        h = Holder()
        @tf.function
        def f(x):
            if h.v is None:
                h.v = tf.Variable(tf.ones([2]) * 2.)
            return h.v + x
        y = f(tf.constant(2.))
        with tf1.Session() as s:
            s.run(tf1.global_variables_initializer())
            return [v.name for v in tf1.global_variables()], s.run(y).tolist()
show('in a graph', in_graph)
