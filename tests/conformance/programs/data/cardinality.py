base = Dataset.range(10)
for label, dataset in (('range', base), ('repeat', base.repeat(3)), ('for ever', base.repeat()), ('batch', base.batch(3)),
                       ('drop', base.batch(3, True)), ('take', base.take(4)), ('take of all', base.repeat().take(4)),
                       ('skip', base.skip(4)), ('map', base.map(lambda x: x)), ('filter', base.filter(lambda x: True)),
                       ('flat_map', base.flat_map(Dataset.from_tensors)), ('zip', Dataset.zip((base, base.take(3)))),
                       ('zip for ever', Dataset.zip((base, base.repeat()))), ('concatenate', base.concatenate(base)),
                       ('shuffle', base.shuffle(3)), ('cache', base.cache()), ('prefetch', base.prefetch(2)),
                       ('window', base.window(3)), ('shard', base.shard(3, 1)), ('enumerate', base.enumerate()),
                       ('parallel', base.map(lambda x: x, 2)), ('tensors', Dataset.from_tensors(1)),
                       ('slices', Dataset.from_tensor_slices([1, 2])), ('unbatch', base.batch(2).unbatch()),
                       ('padded', base.padded_batch(4)), ('generator', Dataset.from_generator(lambda: iter([1]), tf.int32)),
                       ('take_while', base.take_while(lambda x: True)), ('random', Dataset.random()),
                       ('repeat 0', base.repeat(0)), ('scan', base.scan(0, lambda s, x: (s, x)))):
    print(label, dataset.cardinality().numpy())
    show(label + ' len', lambda: len(dataset))
print(tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY, tf.data.experimental.cardinality(base).numpy())
show('asserted', lambda: Dataset.range(3).filter(lambda x: True).apply(tf.data.experimental.assert_cardinality(3)).cardinality())
show('asserted wrong', lambda: list(Dataset.range(3).apply(tf.data.experimental.assert_cardinality(5))))
show('asserted more', lambda: list(Dataset.range(3).apply(tf.data.experimental.assert_cardinality(2))))
