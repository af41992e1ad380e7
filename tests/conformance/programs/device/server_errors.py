import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])


import socket


def port():
    with socket.socket() as s:
        s.bind(('', 0))
        return s.getsockname()[1]


server = v1.train.Server.create_local_server()
with v1.Graph().as_default():
    x = v1.placeholder(tf.float32, [2], name='x')
    y = tf.py_function(lambda a: 1 // 0, [x], tf.float32, name='y')
    z = v1.py_func(lambda a: a.no_such, [x], tf.float32, name='z')
    w = tf.numpy_function(lambda a: 'text', [x], tf.float32, name='w')
    u = v1.get_variable('u', initializer=1., use_resource=True)
    m = tf.matmul(tf.reshape(x, [1, 2]), tf.ones([2, 2]), name='m')
    with v1.Session(server.target) as s:
        for fetch in (y, z, w, u):
            try:
                s.run(fetch, {x: [1., 2.]})
            except tf.errors.OpError as error:
                print(type(error).__name__, error.error_code, [line for line in str(error).splitlines() if 'rror' in line and 'File' not in line][1:2])
        print(s.run(m, {x: [1., 2.]}))
        T('shape', lambda: s.run(m, {x: [1.]}))
        T('fetch', lambda: s.run('nope:0'))
        T('partial', lambda: s.partial_run_setup([m], [x]) and 'set up')
    T('closed', lambda: s.run(m, {x: [1., 2.]}))
