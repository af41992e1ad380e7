import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1
with v1.Graph().as_default() as g:
    with tf.device('/job:ps/task:1'):
        a = tf.constant(1., name='a')
    b = tf.constant(2., name='b')
    with v1.colocate_with(a):
        c = tf.constant(3., name='c')
        with tf.device('/cpu:0'):
            d = tf.constant(3., name='d')
        with v1.colocate_with(b):
            e = tf.constant(3., name='e')
        with v1.colocate_with(b, ignore_existing=True):
            f = tf.constant(3., name='f')
        with v1.colocate_with(None, ignore_existing=True):
            h = tf.constant(3., name='h')
    with tf.device('/job:w'), g.colocate_with(c.op):
        i = tf.constant(3., name='i')
    with g.colocate_with(i):
        j = tf.constant(3., name='j')
    T('none', lambda: g.colocate_with(None).__enter__())
for op in g.get_operations():
    print(op.name, repr(op.device), op.colocation_groups())
    print(str(op.node_def.attr.get('_class', '')).replace('\n', ' ') if '_class' in op.node_def.attr else 'no class')
