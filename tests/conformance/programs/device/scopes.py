import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1


def nested(*names):
    with v1.Graph().as_default() as g:
        def at(rest):
            if not rest:
                return repr(tf.no_op().device)
            with tf.device(rest[0]):
                return at(rest[1:])
        return at(names)


for names in [('/job:a', '/cpu:0'), ('/cpu:0', '/job:a'), ('/job:a/task:1', '/job:b'), ('/job:a/task:1/cpu:0', '/task:2'),
              ('/cpu:0', '/gpu:1'), ('/cpu:0', None), ('/cpu:0', None, '/job:x'), ('/job:a', ''), ('/job:a/replica:1', '/cpu:0', '/job:c/gpu:2'),
              (None,), ('',), ('/gpu:*', '/gpu:1'), ('/gpu:1', '/gpu:*'), ('/job:a', '/job:*'), ('/device:FOO:3', '/task:1')]:
    T(names, lambda: nested(*names))
with v1.Graph().as_default() as g:
    with tf.device('/job:a'):
        x = tf.constant(1., name='x')
        with tf.name_scope('s'), tf.device('/cpu:0'):
            y = x + 1.
        z = y * 2.
    w = z - 1.
    for op in g.get_operations():
        print(op.name, repr(op.device))
    print(x.device, repr(w.device), x)
