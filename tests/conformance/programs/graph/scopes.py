import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    with tf.name_scope('s') as s:
        print(repr(s), tf.constant(0, name='a').name, g.get_name_scope())
        with tf.name_scope('t') as t:
            print(repr(t), tf.constant(0, name='a').name)
            with v1.name_scope(None) as n:
                print(repr(n), tf.constant(0, name='a').name)
            with tf.name_scope(s) as again:
                print(repr(again), tf.constant(0, name='a').name)
            with v1.name_scope('') as empty:
                print(repr(empty), tf.constant(0, name='a').name)
    with tf.name_scope('s') as second:
        print(repr(second), tf.constant(0, name='a').name)
    with g.name_scope('s/') as exact:
        print(repr(exact), tf.constant(0, name='a').name)
    with g.name_scope('S') as upper:
        print(repr(upper))
    with v1.name_scope(None, 'default', [tf.constant(1)]) as d:
        print(repr(d))
    with v1.name_scope('x', 'default') as d:
        print(repr(d))
    attempt('bad', lambda: g.name_scope('a b').__enter__())
    attempt('bad start', lambda: g.name_scope('_a').__enter__())
    attempt('int', lambda: tf.name_scope(3))
    attempt('None', lambda: tf.name_scope(None))
    attempt('v1 none', lambda: v1.name_scope(None).__enter__())
    attempt('v1 default', lambda: v1.name_scope(None, 3).__enter__())
    with g.name_scope('out'):
        attempt('nested underscore', lambda: g.name_scope('_a').__enter__())
        attempt('bad nested', lambda: g.name_scope('a b').__enter__())
