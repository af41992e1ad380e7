import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = tf.constant(1, name='a')
    sess = v1.Session()
    print(sess.graph is g)
    print(sess.run(a))
    sess.close()
    sess.close()
    attempt('run', lambda: sess.run(a))
    attempt('run none', lambda: sess.run(None))
    attempt('partial', lambda: sess.partial_run_setup([a], []))
    attempt('callable', lambda: callable(sess.make_callable(a)))
    attempt('devices', lambda: sess.list_devices())
    with v1.Session() as other:
        kept = other
        print(a.eval())
    attempt('after with', lambda: kept.run(a))
    attempt('eval', lambda: a.eval())
    attempt('op run', lambda: a.op.run())
    attempt('eval in', lambda: a.eval(session=v1.Session()))
with tf.Graph().as_default():
    attempt('empty', lambda: v1.Session().run([]))
    attempt('empty name', lambda: v1.Session().run('a:0'))
attempt('graph', lambda: v1.Session(graph=3))
attempt('target type', lambda: v1.Session(target=5))
attempt('config type', lambda: v1.Session(config=5))
