import tensorflow as tf, numpy as np

def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


v = tf.Variable([[1., 2.], [3., 4.]])
show('iter', lambda: [x.numpy().tolist() for x in v])
show('bool', lambda: bool(tf.Variable(True)))
show('int', lambda: (int(tf.Variable(3)), float(tf.Variable(2.5))))
show('array', lambda: np.array(v).tolist())
show('add', lambda: v + 1.)
show('matmul', lambda: v @ v)
show('compare', lambda: (v == v, v > 2.))
show('hash', lambda: hash(v))
show('ref', lambda: v.ref() == v.ref() and v.ref().deref() is v)
show('in', lambda: {v.ref(): 1}[v.ref()])
show('shape', lambda: (v.shape, v.get_shape(), v.dtype, v.name, v.device != ''))
show('reduce', lambda: tf.reduce_sum(v))
show('is_tensor', lambda: tf.is_tensor(v))
show('convert', lambda: tf.convert_to_tensor(v))
show('numpy function', lambda: np.sum(v))
show('op', lambda: v.op)
show('graph', lambda: v.graph)
show('initializer', lambda: v.initializer)
show('initial_value', lambda: v.initial_value)
show('eval', lambda: v.eval())
show('experimental', lambda: v.experimental_ref() == v.ref())
