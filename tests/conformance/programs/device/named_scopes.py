import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])


with v1.Graph().as_default() as g:
    with tf.device(tf.DeviceSpec(job='a', task=2)), tf.name_scope('s'):
        with tf.device(v1.DeviceSpec(device_type='cpu', device_index=0)):
            x = tf.constant(1., name='x')
        with g.device('/task:7'), g.name_scope('t'):
            y = tf.identity(x, name='y')
        with v1.device('/gpu:1'):
            with tf.control_dependencies([x]), tf.init_scope():
                z = tf.constant(2., name='z')
            n = tf.group(x, y, name='n')
    for op in g.get_operations():
        print(op.name, repr(op.device))
    T('no name', lambda: tf.device(''))
    T('exit', lambda: [tf.constant(1.).device for _ in range(2)])
