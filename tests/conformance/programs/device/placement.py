import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1


def run(device, config=None):
    with v1.Graph().as_default():
        with tf.device(device):
            y = tf.constant(2., name='y') * 3.
        with v1.Session(config=config) as s:
            return s.run(y)


def whole(device, config=None):
    try:
        return run(device, config)
    except Exception as error:
        return type(error).__name__, [line for line in str(error).splitlines() if 'assign' in line][:1]


for device in ['/cpu:0', '/job:localhost', '/job:localhost/replica:0/task:0/device:CPU:0', '/job:worker', '/job:localhost/task:1', '/replica:0',
               '/replica:1', '/gpu:0', '/cpu:1', '/device:FOO:0', '/job:worker/task:0/gpu:3', '/cpu:*', '/gpu:*', '/tpu:0', '/task:0', '']:
    print(device, whole(device), whole(device, v1.ConfigProto(allow_soft_placement=True)))
with v1.Graph().as_default():
    with tf.device('/job:worker/task:0'):
        y = v1.py_func(lambda: np.float32(1), [], tf.float32, name='y')
        z = tf.py_function(lambda: 1., [], tf.float32, name='z')
    ok = tf.constant(5.)
    with v1.Session() as s:
        for fetch in (y, z, ok):
            try:
                print(s.run(fetch))
            except tf.errors.InvalidArgumentError as error:
                print(error.error_code, [line for line in str(error).splitlines() if 'assign' in line][:1])
        T('the whole graph is placed', lambda: s.run(ok))
with v1.Graph().as_default():
    with tf.device('/job:a'):
        p = v1.placeholder(tf.float32, name='p')
    q = p + 1.
    with v1.Session() as s:
        T('pruned by feed', lambda: s.run(q, {p: 1.}))
        T('not fetched', lambda: s.run(tf.constant(1.)))
