import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1
server = v1.train.Server.create_local_server()
with v1.Graph().as_default() as g:
    a = v1.get_variable('a', initializer=1., use_resource=True)
    with v1.container('box'):
        b = v1.get_variable('b', initializer=2., use_resource=True)
        with g.container('inner'):
            c = v1.get_variable('c', initializer=3., use_resource=True)
    for v in (a, b, c):
        print(v.op.name, v.op.get_attr('container'), v.op.get_attr('shared_name'))
    init = v1.global_variables_initializer()
    with v1.Session(server.target) as s:
        s.run(init)
    with v1.Session(server.target) as s:
        print(s.run([a, b, c]))
    v1.Session.reset(server.target, ['box'])
    with v1.Session(server.target) as s:
        T('a', lambda: s.run(a))
        T('b', lambda: s.run(b))
        T('c', lambda: s.run(c))
        s.run(init)
    v1.Session.reset(server.target)
    with v1.Session(server.target) as s:
        for name, v in (('a', a), ('b', b), ('c', c)):
            T(name, lambda: s.run(v))
    T('reset local', lambda: v1.Session.reset(''))
