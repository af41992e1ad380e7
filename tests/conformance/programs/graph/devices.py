import tensorflow as tf, numpy as np


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    seen = []

    def choose(op):
        seen.append((op.name, op.type))
        return '/job:worker/task:1' if op.type == 'Const' else '/cpu:0'

    with g.device(choose):
        a = tf.constant(1, name='a')
        with g.device('/gpu:1'):
            b = tf.constant(2, name='b')
        n = tf.no_op(name='n')
    with g.device('/job:ps'):
        with g.device(choose):
            c = tf.constant(1, name='c')
        with g.device(None):
            d = tf.constant(1, name='d')
            with g.device('/task:3'):
                h = tf.constant(1, name='h')
        with g.device(''):
            e = tf.constant(1, name='e')
    for op in (a.op, b.op, n, c.op, d.op, h.op, e.op):
        print(op.name, op.device)
    print(seen)
    attempt('bad', lambda: g.device('foo:0').__enter__())
    attempt('int', lambda: g.device(3).__enter__())
    attempt('function', lambda: tf.device(lambda op: '/cpu:0'))
