v1 = tf.compat.v1

with tf.Graph().as_default():
    dataset = v1.data.Dataset.from_tensor_slices(np.array([1., 2.], np.float32)).map(lambda x: x * 2)
    iterator = v1.data.make_one_shot_iterator(dataset)
    value = iterator.get_next()
    print(value, iterator.output_types, iterator.output_shapes, iterator.output_classes)
    print(dataset)
    with v1.Session() as sess:
        print(sess.run(value), sess.run(value))
        for _ in range(2):
            try:
                sess.run(value)
            except tf.errors.OutOfRangeError as error:
                print(type(error).__name__, 'End of sequence' in error.message, error.op.name, error.op.type)
    with v1.Session() as sess:
        print(sess.run(value))
    show('initializer', lambda: iterator.initializer)
    show('captures', lambda: v1.data.make_one_shot_iterator(v1.data.Dataset.range(3)).get_next().dtype)
