import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1
seen = []


def by_type(op):
    seen.append((op.name, op.type, op.device))
    return '/gpu:0' if op.type == 'Add' or op.type == 'AddV2' else '/cpu:0'


with v1.Graph().as_default() as g:
    with v1.device(by_type):
        a = tf.constant(1., name='a') + 2.
        with v1.device('/job:inner'):
            b = tf.constant(3., name='b')
            with v1.device(lambda op: ''):
                d = tf.constant(3., name='d')
            with v1.device(None):
                e = tf.constant(3., name='e')
    with v1.device('/job:outer'), v1.device(lambda op: '/task:%d' % len(op.name)):
        f = tf.constant(1., name='longer')
    with v1.device(lambda op: '/job:f/task:1'), v1.device('/task:2'):
        h = tf.constant(1., name='h')
    T('bad result', lambda: v1.device(lambda op: 'foo').__enter__() or tf.constant(1.))
for op in g.get_operations():
    print(op.name, repr(op.device))
print(seen)
T('v2', lambda: tf.device(by_type))


def entered(scope):
    with scope:
        return 'entered'


T('eager function', lambda: entered(v1.device(by_type)))
T('eager bad', lambda: entered(tf.device('foo')))
T('eager number', lambda: entered(tf.device(5)))
T('eager spec', lambda: entered(tf.device(tf.DeviceSpec(job='localhost'))))
T('eager ok', lambda: entered(tf.device('/cpu:0')))
