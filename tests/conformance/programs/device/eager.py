import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split(' [Op:')[0])

with tf.device('/cpu:0'):
    print(tf.constant(1.).device)
with tf.device('CPU:0'), tf.device(None):
    print(tf.constant(1.).device)

def under(name):
    with tf.device(name):
        return tf.add(tf.constant(1.), 1.).device


for name in ['/cpu:0', '/gpu:0', '/cpu:3', '/job:localhost', '/job:localhost/task:0', '/job:nope', '/task:4', '/device:FOO:0']:
    T(name, lambda: under(name))
tf.config.set_soft_device_placement(False)
for name in ['/cpu:0', '/gpu:0', '/cpu:3', '/job:localhost', '/job:localhost/task:0', '/job:nope', '/task:4', '/device:FOO:0']:
    T(name, lambda: under(name))
