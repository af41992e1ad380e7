v1 = tf.compat.v1

with tf.Graph().as_default():
    train = v1.data.Dataset.range(3)
    test = v1.data.Dataset.range(10, 12)
    iterator = v1.data.Iterator.from_structure(v1.data.get_output_types(train), v1.data.get_output_shapes(train))
    value = iterator.get_next()
    begin_train, begin_test = iterator.make_initializer(train), iterator.make_initializer(test, name='test')
    print(begin_test.name, value)
    with v1.Session() as sess:
        for begin in (begin_train, begin_test, begin_train):
            sess.run(begin)
            found = []
            while True:
                try:
                    found.append(int(sess.run(value)))
                except tf.errors.OutOfRangeError:
                    break
            print(found)
    show('types', lambda: iterator.make_initializer(v1.data.Dataset.from_tensors('a')))
    show('initializer', lambda: iterator.initializer)
    handle = v1.placeholder(tf.string, [])
    fed = v1.data.Iterator.from_string_handle(handle, tf.int64, [])
    element = fed.get_next()
    one, two = v1.data.make_one_shot_iterator(train), v1.data.make_one_shot_iterator(test)
    with v1.Session() as sess:
        first, second = sess.run([one.string_handle(), two.string_handle()])
        print(sess.run(element, {handle: first}), sess.run(element, {handle: second}), sess.run(element, {handle: first}))
