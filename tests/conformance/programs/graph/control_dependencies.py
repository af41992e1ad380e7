import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = tf.constant(1, name='a')
    b = tf.constant(2, name='b')
    c = tf.no_op(name='c')
    with g.control_dependencies([a, c]):
        d = tf.constant(3, name='d')
        with g.control_dependencies([b]):
            e = tf.constant(4, name='e')
            with g.control_dependencies(None):
                f = tf.constant(5, name='f')
                with g.control_dependencies([b]):
                    k = tf.constant(0, name='k')
            h = tf.constant(6, name='h')
        i = d + a
        j = tf.identity(d, name='j')
    for t in (d, e, f, k, h, i, j):
        print(t.op.name, [o.name for o in t.op.control_inputs])
    with tf.control_dependencies([a.op, a, a]):
        print([o.name for o in tf.constant(1).op.control_inputs])
    with tf.control_dependencies([]):
        print([o.name for o in tf.constant(1).op.control_inputs])
    attempt('name', lambda: bool(g.control_dependencies(['a'])))
    attempt('bad name', lambda: bool(g.control_dependencies(['nope'])))
    attempt('int', lambda: bool(g.control_dependencies([3])))
    attempt('not list', lambda: bool(g.control_dependencies(3)))
    with tf.Graph().as_default():
        x = tf.constant(1, name='x')
    attempt('foreign', lambda: bool(g.control_dependencies([x])))
    attempt('single', lambda: bool(g.control_dependencies(a)))
