import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


t = tf.constant(1.)
with tf.Graph().as_default(), v1.Session() as sess:
    tf.constant(1)
    attempt('eager fetch', lambda: sess.run(t))
attempt('session on default', lambda: v1.Session().run(t))
attempt('eval of eager', lambda: t.eval())
attempt('op of eager', lambda: t.op)
attempt('graph of eager', lambda: t.graph)
attempt('name of eager', lambda: t.name)
