import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

C = tf.train.ClusterSpec
c = C({'worker': ['w0:1', 'w1:2'], 'ps': ['p0:3']})
print(c.jobs, c.num_tasks('worker'), c.task_indices('worker'), c.task_address('worker', 1), c.job_tasks('ps'), c.as_dict())
print(repr(c), bool(c), bool(C({})), c == C({'ps': ['p0:3'], 'worker': ['w0:1', 'w1:2']}), c != C({}), c == 5)
s = C({'worker': {1: 'a:1', 5: 'b:2'}})
print(s.as_dict(), s.num_tasks('worker'), s.task_indices('worker'), s.job_tasks('worker'), repr(s))
print(str(c.as_cluster_def()))
print(C(c) == c, C(c.as_cluster_def()) == c, C(c.as_cluster_def()).as_dict())
print(C({'a': []}).as_dict(), C({'a': ('x:1', 'y:2')}).as_dict())
T('no job', lambda: c.num_tasks('x'))
T('no job 2', lambda: c.task_indices('x'))
T('no job 3', lambda: c.job_tasks('x'))
T('no job 4', lambda: c.task_address('x', 0))
T('no task', lambda: c.task_address('ps', 7))
T('no task', lambda: s.task_address('worker', 0))
for label, bad in [('int', 5), ('str', 'x'), ('list', ['a']), ('none', None), ('task str', {'a': 'x:1'}), ('int job', {5: ['x:1']}),
                   ('int address', {'a': [5]}), ('negative', {'a': {-1: 'x'}}), ('str index', {'a': {'0': 'x:1'}}), ('bytes', {'a': [b'x:1']}),
                   ('none address', {'a': [None]}), ('nested', {'a': [['x']]}), ('dict int', {'a': {0: 5}})]:
    T(label, lambda: C(bad).as_dict())
m = tf.train.ClusterDef()
m.job.add(name='j').tasks[2] = 'h:9'
print(C(m).as_dict(), C(m).as_cluster_def() == m)
