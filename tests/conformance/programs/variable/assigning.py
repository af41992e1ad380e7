import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


v = tf.Variable([1., 2.])
show('assign', lambda: v.assign([3., 4.]))
show('add', lambda: v.assign_add([1., 1.]))
show('sub', lambda: v.assign_sub([0.5, 0.5]))
show('no read', lambda: v.assign([3., 4.], read_value=False))
show('shape', lambda: v.assign([1.]))
show('type', lambda: v.assign(['a', 'b']))
show('int', lambda: v.assign([1, 2]))
show('other type', lambda: v.assign(tf.constant([1, 2])))
show('broadcast', lambda: v.assign(1.))
show('v1 assign', lambda: v1.assign(v, [7., 8.]))
show('v1 add', lambda: v1.assign_add(v, [1., 1.]))
show('v1 sub', lambda: v1.assign_sub(v, [1., 1.]))
w = tf.Variable([1.], shape=[None])
show('longer', lambda: w.assign([1., 2., 3.]))
show('rank', lambda: w.assign([[1.]]))
show('chain', lambda: v.assign([1., 1.]).assign_add([2., 2.]).numpy())
show('value', lambda: (v.value(), v.read_value(), v.numpy()))
show('count', lambda: tf.Variable(1).assign_add(1).numpy())
show('string', lambda: tf.Variable('a').assign('b'))
