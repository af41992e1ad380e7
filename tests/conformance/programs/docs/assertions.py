import tensorflow as tf, numpy as np

check = tf.debugging


def said(name, call):
    try:
        print(name, call())
    except Exception as error:
        print(name, type(error).__name__, error)


row, table, word = tf.constant([3.0, 4.0]), tf.ones([2, 5]), tf.constant('word')
said('exact', lambda: check.assert_rank(row, 2))
said('exact, message', lambda: check.assert_rank(row, 0, message='rows only'))
said('vector of ranks', lambda: check.assert_rank(row, [1]))
said('at least', lambda: check.assert_rank_at_least(row, 3))
said('at least, fits', lambda: check.assert_rank_at_least(table, 1))
said('one of', lambda: check.assert_rank_in(table, [0, 3], message='odd'))
said('one of, fits', lambda: check.assert_rank_in(table, [2, 3]))
said('scalar', lambda: check.assert_scalar(row, message='no scalar'))
said('integer', lambda: check.assert_integer(row))
said('integer, fits', lambda: check.assert_integer(tf.constant(5)))
said('type', lambda: check.assert_type(row, tf.int64, message='types'))
said('sparse type', lambda: check.assert_type(tf.sparse.from_dense([[0, 6]]), tf.float16))
said('iterable, text', lambda: check.assert_proper_iterable('letters'))
said('iterable, number', lambda: check.assert_proper_iterable(12))
said('iterable, fits', lambda: check.assert_proper_iterable([row]))
said('floats', lambda: check.assert_same_float_dtype([row, table]))
said('floats, none', lambda: check.assert_same_float_dtype())
said('floats, integer', lambda: check.assert_same_float_dtype([row, tf.constant(2)]))
said('floats, wanted', lambda: check.assert_same_float_dtype([row], tf.float64))
said('floats, not float', lambda: check.assert_same_float_dtype(None, tf.uint8))
said('numbers', lambda: [check.is_numeric_tensor(x) for x in (row, word, tf.constant(False), 5, tf.constant(2j))])
said('letters', lambda: check.assert_shapes([(table, ('A', 'B')), (row, ('B',))]))
said('letters, message', lambda: check.assert_shapes([(table, ('A', 'B')), (row, ('B',))], message='sizes'))
said('letters, fit', lambda: check.assert_shapes([(table, ('A', None)), (row, 'A')]))
said('a size', lambda: check.assert_shapes([(table, (2, 6))]))
said('open end', lambda: check.assert_shapes([(table, (..., 4))]))
said('rank', lambda: check.assert_shapes([(table, ('A', 'B', 'C'))]))
said('near', lambda: check.assert_near(row, [3.0, 4.5], message='far'))
said('near, fits', lambda: check.assert_near(row, [3.0, 4.5], atol=0.6))

with tf.Graph().as_default() as graph:
    unknown = tf.compat.v1.placeholder(tf.int32, name='unknown')
    for checks in (check.assert_positive, check.assert_non_negative, check.assert_negative, check.assert_non_positive):
        checks(unknown)
    checked = check.assert_rank_in(unknown, [1, 2])
    print([op.name for op in graph.get_operations() if op.type == 'Assert'])
    with tf.compat.v1.Session() as session:
        session.run(checked, {unknown: [1]})
        try:
            session.run(checked, {unknown: 1})
        except tf.errors.InvalidArgumentError as error:
            print(error.message.splitlines()[0])
