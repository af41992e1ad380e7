import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


@tf.RegisterGradient('Doubled')
def doubled(op, grad):
    return 2. * grad


try:
    tf.RegisterGradient('Doubled')(doubled)
except KeyError as error:
    print(str(error).split(' (')[0])
attempt('type', lambda: tf.RegisterGradient(3))
with tf.Graph().as_default() as g, v1.Session() as sess:
    x = tf.constant(3., name='x')
    with g.gradient_override_map({'Identity': 'Doubled'}):
        y = tf.identity(x, name='y')
        with g.gradient_override_map({'Identity': 'Identity'}):
            w = tf.identity(x, name='w')
    z = tf.identity(x, name='z')
    print([sess.run(v1.gradients(t, x)[0]) for t in (y, z)])
    print(y.op.get_attr('_gradient_op_type'))
    attempt('missing', lambda: z.op.get_attr('_gradient_op_type'))
    with g.gradient_override_map({'Square': 'Nowhere'}):
        s = tf.square(x)
    attempt('unknown', lambda: v1.gradients(s, x))
    attempt('not dict', lambda: g.gradient_override_map([1]).__enter__())
    attempt('not str', lambda: g.gradient_override_map({1: 'a'}).__enter__())
    attempt('not str value', lambda: g.gradient_override_map({'a': 1}).__enter__())
tf.no_gradient('NotThere')
attempt('no gradient', lambda: tf.no_gradient(3))
