import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as graph:
    v = v1.Variable([1., 2.], name='v')
    w = v1.Variable(lambda: tf.ones([2]), name='w')
    print(v, w.name, v.op.type, v.op.name, v.initializer.name, v.initial_value)
    print([op.name for op in graph.get_operations()])
    with v1.Session() as sess:
        try:
            sess.run(v)
        except Exception as error:
            print(type(error).__name__, 'uninitialized' in str(error))
        print(sess.run(v1.report_uninitialized_variables()).tolist())
        sess.run(v.initializer)
        print(sess.run(v1.report_uninitialized_variables()).tolist(), sess.run(v1.is_variable_initialized(w)))
        sess.run(v1.global_variables_initializer())
        print(sess.run([v, w, v + w]))
        print(sess.run(v.assign_add([1., 1.])), sess.run(v), v.eval())
        print(sess.run(v.value()), sess.run(v.read_value()))
        print(sess.run([v1.assign(v, [0., 1.]), w.assign_sub([3., 3.])]))
        print(sess.run(v1.assign_add(v, [1., 1.]).op))
    show('numpy', lambda: v.numpy())
    show('bool', lambda: bool(v))
    show('iter', lambda: list(v))
