import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


g = tf.Graph()
with g.as_default():
    sess = v1.InteractiveSession()
    a = tf.constant(2)
    print(a.eval(), v1.get_default_session() is sess, sess.graph is g, isinstance(sess, v1.Session))
    print(sess.run([a, a + 1]))
    sess.close()
    print(v1.get_default_session())
    attempt('eval', lambda: a.eval())
    attempt('run', lambda: sess.run(a))
    sess.close()
