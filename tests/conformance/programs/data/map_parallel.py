for calls in (1, 2, 5, tf.data.AUTOTUNE):
    show(calls if calls > 0 else 'AUTOTUNE', lambda: Dataset.range(7).map(lambda x: x + 1, num_parallel_calls=calls))
show('numpy', lambda: Dataset.range(7).map(lambda x: tf.numpy_function(lambda a: a * 2, [x], tf.int64), num_parallel_calls=3))
show('sorted', lambda: sorted(int(x) for x in Dataset.range(9).map(lambda x: x, 3, deterministic=False)))
show('batch', lambda: Dataset.range(7).map(lambda x: x, 2).batch(3))
show('nested', lambda: Dataset.range(6).map(lambda x: x + 1, 2).map(lambda x: x * 2, 2).filter(lambda x: x > 4))
print(repr(Dataset.range(2).map(lambda x: x, num_parallel_calls=2)))
