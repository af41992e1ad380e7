import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
def show(label, f):
    with tf.Graph().as_default():
        try:
            print(label, f())
        except Exception as e:
            print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
def run(tensors):
    with tf1.Session() as s:
        s.run(tf1.global_variables_initializer())
        return [None if t is None else s.run(t).tolist() for t in tensors]
def variable(name='v', start=3., **settings):
    return tf1.get_variable(name, initializer=start, use_resource=True, **settings)
def scaled(of):
    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=()):
            print([v.name for v in variables])
            return (dy * 10., [dy * 100. * (i + 1) for i, _ in enumerate(variables)]) if variables else dy * 10.
        return of(x), grad
    return f
def read(how):
    v = variable()
    value = how(v)
    x = tf.constant(2.)
    y = scaled(lambda x: x * value)(x)
    return run([y, *tf.gradients(y, [x, v])])
for name, how in (('read_value', lambda v: v.read_value()), ('value', lambda v: v.value()), ('identity', tf.identity),
                  ('computed', lambda v: v * 2. + 1.), ('stopped', lambda v: tf.stop_gradient(v * 2.)), ('itself', lambda v: v)):
    show(name, lambda: read(how))
show('cached', lambda: (lambda v, x: run(tf.gradients(scaled(lambda x: x * v)(x), [x, v])))(variable(caching_device='/cpu:0'), tf.constant(2.)))
def several():
    b, a, u = variable('b'), variable('a', 4.), variable('u', 5., trainable=False)
    value, x = b * 2., tf.constant(2.)
    y = scaled(lambda x: x * value * a * u.read_value())(x) + a
    return run([y, *tf.gradients(y, [x, a, b, u])])
show('several', several)
def argument():
    v = variable()
    y = scaled(lambda x: x * 2.)(v * 2.)
    return run([y, *tf.gradients(y, [v])])
show('behind the argument', argument)
def refused():
    v = variable()
    value = v.read_value()
    @tf.custom_gradient
    def f(x):
        return x * value, lambda dy: dy
    return f(tf.constant(2.))
show('not taken', refused)
def given():
    v, x = variable(), tf.constant(2.)
    @tf.custom_gradient
    def f(x, w):
        print(isinstance(w, tf.Variable))
        return x * w, lambda dy: (dy * 10., dy * 20.)
    y = f(x, v)
    return run([y, *tf.gradients(y, [x, v])])
show('given', given)
v, u = tf.Variable(3.), tf.Variable(4.)
@tf.custom_gradient
def f(x, w):
    print(isinstance(w, tf.Variable))
    return x * w * u, lambda dy, variables: ((dy * 10., dy * 20.), [dy * 30.])
with tf.GradientTape() as t:
    x = tf.constant(2.)
    t.watch(x)
    y = f(x, v)
print([g.numpy() for g in t.gradient(y, [x, v, u])])
@tf.function
def g(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x, v)
    return t.gradient(y, [x, v, u])
print([t.numpy() for t in g(tf.constant(2.))])
def documented(a):
    """What it does."""
    return tf.floor(a)
passed = tf.grad_pass_through(documented)
print(passed.__name__, passed.__doc__, passed.__wrapped__ is documented)
with tf.GradientTape() as t:
    x = tf.constant([1.5, 2.5])
    t.watch(x)
    y = passed(x * x)
print(y.numpy(), t.gradient(y, x).numpy())
x, z = tf.Variable(1.), tf.Variable(3.)
with tf.GradientTape() as t:
    y = tf.grad_pass_through(x.assign)(z ** 2)
print(t.gradient(y, z).numpy(), x.numpy())
