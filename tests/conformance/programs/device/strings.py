import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1
NAMES = ['/cpu:0', 'CPU:0', 'cpu', '/gpu:1', 'GPU', '/device:CPU:0', 'device:GPU:*', '/device:cpu:0', '/job:ps', '/job:ps/task:3',
         '/job:ps/replica:2/task:3/cpu:1', '/task:1/job:worker', '/job:a/job:b', '/task:0', '/replica:0', '', '/', '/job:*', '/cpu:*',
         'foo', '/job:ps/foo:1', '/foo', '/device:FOO:3', '/cpu:0/gpu:0', '/task:x', '/task:-1', '/cpu:x', '/cpu:0:1', '/job:1a', '/job',
         '/device:XLA_CPU:0', '/tpu:0', '/device:CPU', '/job:a b', '/TASK:1', '/job:A_b-c', 'job:a/cpu:0', ' /cpu:0', '/xla_cpu:0']


def node(name):
    with v1.Graph().as_default(), tf.device(name):
        return repr(v1.no_op().device)


for name in NAMES:
    T(name, lambda: node(name))
