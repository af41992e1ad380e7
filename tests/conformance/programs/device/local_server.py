import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1
server = v1.train.Server.create_local_server()
with v1.Graph().as_default():
    x = v1.placeholder(tf.float32, name='x')
    y = tf.py_function(lambda a: a * 2, [x], tf.float32, name='y')
    with tf.device('/job:localhost/task:0/cpu:0'):
        z = y + 1.
    with v1.Session(server.target) as s:
        print(s.run([y, z], {x: 3.}))
        print([d.name for d in s.list_devices()])
        T('no feed', lambda: s.run(y))
        T('bad feed', lambda: s.run(y, {x: 'a'}))
    T('closed', lambda: s.run(y, {x: 3.}))
    with tf.device('/job:worker'):
        w = y + 2.
    with v1.Session(server.target) as s:
        try:
            s.run(w, {x: 3.})
        except Exception as error:
            print(type(error).__name__, [line for line in str(error).splitlines() if 'assign' in line][:1])
        T('the whole graph is placed', lambda: s.run(z, {x: 5.}))
with v1.Graph().as_default():
    x = v1.placeholder(tf.float32, name='x')
    with v1.Session(server.target, config=v1.ConfigProto(allow_soft_placement=True)) as s:
        with tf.device('/gpu:7'):
            print(s.run(x + 5., {x: 5.}))
