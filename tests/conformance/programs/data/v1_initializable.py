v1 = tf.compat.v1

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
