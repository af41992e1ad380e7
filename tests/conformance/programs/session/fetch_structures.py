import tensorflow as tf, numpy as np
import collections

v1 = tf.compat.v1

Point = collections.namedtuple('Point', ['x', 'y'])
with tf.Graph().as_default(), v1.Session() as sess:
    a, b = tf.constant(1, name='a'), tf.constant([2., 3.], name='b')
    op = tf.no_op(name='nothing')
    for fetch in (a, [a], (a, b), [a, [b, (a,)]], {'k': a, 'l': [b]}, Point(a, b), [Point(a, [b])], collections.OrderedDict(
            [('z', a), ('y', b)]), [], {}, (), [[], ()], op, [op, a], 'a:0', 'a', b'a:0', [a, a], {'o': op}):
        print(type(fetch).__name__, repr(sess.run(fetch)))
    twice = sess.run([b, b])
    print(twice[0] is twice[1])
    print(type(sess.run(a)), type(sess.run(b)), sess.run(b).flags.writeable)
    found = sess.run(collections.defaultdict(list, {'a': a}))
    print(type(found).__name__, found)
