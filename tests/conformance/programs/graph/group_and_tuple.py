import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g, v1.Session() as sess:
    a, b = tf.constant(1., name='a'), tf.constant(2., name='b')
    n = tf.group(a, b, name='n')
    print(n.type, [o.name for o in n.control_inputs], sess.run(n))
    print(tf.group().name, tf.group([a, [b.op]]).name)
    attempt('int', lambda: tf.group(3))
    attempt('None', lambda: tf.group(None))
    t = tf.tuple([a, None, b], name='t')
    print([None if x is None else x.name for x in t], sess.run(t[0]))
    attempt('empty', lambda: tf.tuple([None]))
    print(t[0].op.control_inputs)
