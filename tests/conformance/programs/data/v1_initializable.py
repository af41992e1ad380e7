import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def show(label, function):
    try:
        found = function()
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])
        return
    if isinstance(found, tf.data.Dataset):
        try:
            print(label, found.element_spec, [plain(value) for value in found.as_numpy_iterator()])
        except Exception as error:
            print(label, found.element_spec, '!!', type(error).__name__, '|', str(error).split('\n')[0])
    else:
        print(label, found)


with tf.Graph().as_default():
    limit = v1.placeholder(tf.int64, [])
    dataset = v1.data.Dataset.range(limit).map(lambda x: x + limit)
    iterator = v1.data.make_initializable_iterator(dataset)
    value = iterator.get_next()
    print(value.op.type, iterator.initializer.type, iterator.initializer.name)
    with v1.Session() as sess:
        try:
            sess.run(value)
        except Exception as error:
            print(type(error).__name__, 'iterator has not been initialized' in error.message)
        sess.run(iterator.initializer, {limit: 2})
        print(sess.run(value), sess.run(value))
        try:
            sess.run(value)
        except Exception as error:
            print(type(error).__name__)
        sess.run(iterator.initializer, {limit: 5})
        print(sess.run(value))
        sess.run(iterator.initializer, {limit: 7})
        print(sess.run([value, value]))
show('eager', lambda: v1.data.make_initializable_iterator(v1.data.Dataset.range(3)))
print([int(x) for x in v1.data.make_one_shot_iterator(v1.data.Dataset.range(3))])
