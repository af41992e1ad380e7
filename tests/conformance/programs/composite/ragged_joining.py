import tensorflow as tf, numpy as np
def T(label, f):
    try: print(label, "->", repr(f()))
    except Exception as e: print(label, "!!", type(e).__name__, "|", (str(e).splitlines() or [""])[0])
a, b = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4], [5, 6]])
for axis in (0, 1, -1, 2):
    T(f'concat {axis}', lambda: tf.concat([a, b], axis)); T(f'stack {axis}', lambda: tf.stack([a, b], axis)); T(f'expand {axis}', lambda: tf.expand_dims(a, axis))
T('with dense', lambda: tf.concat([a, [[7, 8], [9, 9]]], 1)); T('with dense 0', lambda: tf.concat([a, [[7, 8]]], 0)); T('one', lambda: tf.concat([a], 0))
T('ragged.stack', lambda: tf.ragged.stack([[1, 2], [3]])); T('ragged.stack 1', lambda: tf.ragged.stack([a, b], axis=1))
T('size', lambda: tf.size(a)); T('rank', lambda: tf.rank(a)); T('cast', lambda: tf.cast(a, tf.float32)); T('zeros', lambda: tf.zeros_like(a)); T('ones', lambda: tf.ones_like(a)); T('identity', lambda: tf.identity(a))
T('mask', lambda: tf.boolean_mask(a, a > 1)); T('mask rows', lambda: tf.boolean_mask(a, [True, False])); T('where', lambda: tf.where(a > 1)); T('where 3', lambda: tf.where(a > 2, a, a * 10)); T('reverse', lambda: tf.reverse(a, [0])); T('reverse 1', lambda: tf.reverse(a, [1]))
T('range', lambda: tf.ragged.range([3, 5, 2])); T('range 2', lambda: tf.ragged.range([0, 5, 8], [3, 3, 12])); T('range 3', lambda: tf.ragged.range([0, 5, 8], [3, 3, 12], 2)); T('range down', lambda: tf.ragged.range([3], [0], [-1]))
T('segments', lambda: tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])); T('splits', lambda: tf.ragged.segment_ids_to_row_splits([0, 0, 2], 4)); T('ragged mask', lambda: tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]))
