v1 = tf.compat.v1

with tf.Graph().as_default():
    dataset = tf.data.Dataset.from_tensor_slices({'x': [1, 2, 3], 'y': [4., 5., 6.]}).map(lambda d: (d['x'] * 2, d['y'])).batch(2)
    show('spec', lambda: dataset.element_spec)
    iterator = v1.data.make_initializable_iterator(dataset)
    x, y = iterator.get_next()
    print(x, y)
    with v1.Session() as sess:
        sess.run(iterator.initializer)
        print(sess.run((x, y)))
        print(sess.run((x, y)))
    optional = iterator.get_next_as_optional()
    has = optional.has_value()
    with v1.Session() as sess:
        sess.run(iterator.initializer)
        print([bool(sess.run(has)) for _ in range(3)])
    print(v1.data.get_output_types(dataset), v1.data.get_output_shapes(dataset), v1.data.get_output_classes(dataset))
