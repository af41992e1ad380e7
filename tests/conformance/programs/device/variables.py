import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])


with v1.Graph().as_default() as g:
    with tf.device('/job:ps/task:1'):
        v = v1.get_variable('v', initializer=1., use_resource=True)
    with tf.device('/cpu:0'):
        w = tf.Variable(2., name='w')
        r = v + w
    up = w.assign_add(1.)
    for op in g.get_operations():
        print(op.name, op.type, repr(op.device), op.colocation_groups())
    print(v.device, repr(w.device), r.device)
