import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def fail_at_one(x):
    if x == 1:
        raise ValueError('one is bad')
    return x * 2


with tf.Graph().as_default():
    dataset = v1.data.Dataset.range(3).map(lambda x: tf.py_function(fail_at_one, [x], tf.int64))
    value = v1.data.make_one_shot_iterator(dataset).get_next()
    value.set_shape([])
    doubled = value * 10
    with v1.Session() as sess:
        for _ in range(4):
            try:
                print(sess.run(doubled))
            except Exception as error:
                print(type(error).__name__, 'ValueError: one is bad' in str(error), 'End of sequence' in str(error))
with tf.Graph().as_default():
    variable = v1.get_variable('v', [], tf.float32, v1.zeros_initializer())
    dataset = v1.data.Dataset.from_tensor_slices(np.array([1., 2., 3.], np.float32)).repeat().batch(2)
    value = v1.data.make_one_shot_iterator(dataset).get_next()
    step = v1.assign_add(variable, tf.reduce_sum(value))
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        print([float(sess.run(step)) for _ in range(4)])
