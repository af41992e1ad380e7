import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    with tf.device('/cpu:0'):
        a = tf.constant(1, name='a')
    with v1.colocate_with(a):
        b = tf.constant(2, name='b')
    with g.colocate_with(b.op):
        c = tf.constant(3, name='c')
    with g.colocate_with(a.op), g.colocate_with(c.op):
        d = tf.constant(4, name='d')
    with g.colocate_with(a.op), g.colocate_with(None, True):
        e = tf.constant(4, name='e')
    with g.colocate_with(a.op), g.device('/job:ps'):
        f = tf.constant(4, name='f')
    for t in (a, b, c, d, e, f):
        print(t.op.name, t.op.colocation_groups(), t.device, t.op.device)
    attempt('None', lambda: g.colocate_with(None).__enter__())
    print('_class: ', b.op.get_attr('_class'))
