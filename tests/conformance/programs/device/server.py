import tensorflow as tf, numpy as np

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


v1 = tf.compat.v1
print(tf.distribute.Server is v1.train.Server, v1.distribute.Server is v1.train.Server)
s = v1.train.Server.create_local_server()
print(s.target.startswith('grpc://localhost:'), s.server_def.job_name, s.server_def.task_index, s.server_def.protocol)
print([job.name for job in s.server_def.cluster.job], len(s.server_def.cluster.job[0].tasks))
address = 'localhost:%d' % port()
one = v1.train.Server({'only': [address]})
print(one.server_def.job_name, one.server_def.task_index, one.target == 'grpc://' + address, one.server_def.cluster.job[0].tasks[0] == address)
print(one.start())
T('unknown job', lambda: v1.train.Server({'a': ['localhost:%d' % port()]}, job_name='nope', task_index=0))
T('bad index', lambda: v1.train.Server({'a': ['localhost:%d' % port()]}, job_name='a', task_index=3))
T('two jobs', lambda: v1.train.Server({'a': ['localhost:1'], 'b': ['localhost:2']}))
T('two tasks', lambda: v1.train.Server({'a': ['localhost:%d' % port(), 'localhost:%d' % port()]}).server_def.task_index)
T('type', lambda: v1.train.Server(5))
T('string', lambda: v1.train.Server('localhost:1'))
T('protocol', lambda: v1.train.Server({'a': ['localhost:%d' % port()]}, protocol='foo'))
T('empty', lambda: v1.train.Server({}))
T('empty job', lambda: v1.train.Server({'a': []}, job_name='a', task_index=0))
d = one.server_def
T('from def', lambda: v1.train.Server(tf.train.ServerDef(cluster=tf.train.ClusterSpec({'x': ['localhost:%d' % port()]}).as_cluster_def(), job_name='x', task_index=0, protocol='grpc')).server_def.job_name)
T('target of none', lambda: v1.Session('grpc://localhost:1', graph=v1.Graph()) and 'made')
for target in ('foo://bar', 'nope'):
    try:
        v1.Session(target, graph=v1.Graph())
    except tf.errors.NotFoundError as error:
        print(str(error).split(' config:')[0])
print(v1.Session(one.target, graph=v1.Graph()).sess_str == one.target.encode())
