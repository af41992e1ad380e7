import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1
print([d.name for d in tf.config.list_physical_devices()], tf.config.list_physical_devices('GPU'), tf.config.list_physical_devices('CPU'))
print(tf.config.list_logical_devices(), tf.config.list_logical_devices('TPU'), tf.config.experimental.list_physical_devices('CPU'))
print(tf.config.get_visible_devices('GPU'), tf.config.get_visible_devices())
T('set visible', lambda: tf.config.set_visible_devices([], 'GPU'))
T('soft', lambda: tf.config.get_soft_device_placement())
T('set soft', lambda: (tf.config.set_soft_device_placement(False), tf.config.get_soft_device_placement()))
d = tf.config.list_physical_devices('CPU')[0]
print(d, d.name, d.device_type, d == tf.config.PhysicalDevice('/physical_device:CPU:0', 'CPU'))
with v1.Session(graph=v1.Graph()) as s:
    for d in s.list_devices():
        print(d.name, d.device_type, type(d.memory_limit_bytes), type(d.incarnation), repr(d).split(',')[:2])
print(tf.constant(1.).device, (tf.constant(1.) + 1.).device, tf.Variable(1.).device)
