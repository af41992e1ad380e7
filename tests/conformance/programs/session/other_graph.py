import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = tf.constant(1, name='a')
with tf.Graph().as_default() as h:
    b = tf.constant(2, name='b')
sess = v1.Session(graph=g)
attempt('fetch', lambda: sess.run(b))
attempt('feed', lambda: sess.run(a, {b: 1}))
attempt('eval', lambda: b.eval(session=sess))
attempt('run', lambda: b.op.run(session=sess))
attempt('ok', lambda: a.eval(session=sess))
with sess.as_default():
    attempt('eval default', lambda: b.eval())
