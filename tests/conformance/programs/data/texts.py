import tensorflow as tf, numpy as np

Dataset = tf.data.Dataset


base = Dataset.range(4)
for dataset in (base, base.map(lambda x: x), base.map(lambda x: x, 2), base.batch(2), base.filter(lambda x: True),
                base.shuffle(2), base.repeat(), base.take(1), base.skip(1), Dataset.zip((base, base)), base.concatenate(base),
                base.prefetch(1), base.cache(), base.window(2), base.batch(2).unbatch(), base.enumerate(),
                base.flat_map(Dataset.from_tensors), base.interleave(Dataset.from_tensors), base.padded_batch(2),
                base.shard(2, 0), base.take_while(lambda x: True), base.scan(0, lambda s, x: (s, x)),
                base.with_options(tf.data.Options()), Dataset.from_tensors(1), Dataset.from_tensor_slices([1])):
    print(dataset)
print(isinstance(base, tf.data.Dataset), bool(base), base.element_spec)
