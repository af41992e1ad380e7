import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])


server = v1.train.Server.create_local_server()
with v1.Graph().as_default() as g:
    v = v1.get_variable('v', initializer=1., use_resource=True)
    init, up = v1.global_variables_initializer(), v.assign_add(1.)
    with v1.Session() as a, v1.Session() as b, v1.Session(server.target) as c, v1.Session(server.target) as d:
        for s in (a, c):
            s.run(init)
        for s in (a, c, d):
            s.run(up)
        T('a', lambda: a.run(v))
        T('b', lambda: b.run(v))
        T('c', lambda: c.run(v))
        T('d', lambda: d.run(v))
    i = v1.InteractiveSession(server.target)
    print(v.eval(), i.run(v))
    i.close()
    with tf.device('/job:localhost/task:0'):
        w = v1.get_variable('w', initializer=5., use_resource=True)
    with v1.Session(server.target) as s:
        s.run(w.initializer)
        print(s.run([v, w]))
    with v1.Session() as s:
        s.run(w.initializer)
        print(s.run(w))
