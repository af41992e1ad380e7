import tensorflow as tf, numpy as np


def attempt(text):
    try:
        print(text, '->', eval(text))
    except Exception as error:
        print(text, '!!', type(error).__name__, '|', str(error).split('\n')[0])


for text in (
        'tf.matmul(tf.ones([2, 2], tf.int32), tf.ones([2, 2]))',
        'tf.stack([])',
        'tf.stack([tf.ones([2])], axis=4)',
        'tf.gather(tf.ones([3]), 0, axis=3)',
        'tf.gather_nd(tf.ones([3]), 0)',
        'tf.sort([1, 2], axis=2)',
        "tf.pad(tf.ones([3]), [[5, 5]], mode='REFLECT')",
        "tf.pad(tf.ones([3]), [[4, 5]], mode='SYMMETRIC')",
        "tf.pad(tf.ones([3]), [[1, -1]])",
        "tf.pad(tf.ones([3]), [[1]])",
        'tf.slice(tf.ones([3]), [1, 2], [1])',
        "tf.zeros('a')",
        'tf.ones([None])',
        'tf.boolean_mask([1, 2, 3], [1, 0, 1])',
        'tf.sequence_mask([1], maxlen=[2])',
        "tf.reduce_sum(['a'])",
        'tf.reduce_mean([True])',
        'tf.argmax([1, 2], output_type=tf.float32)',
        'tf.nn.l2_loss([1])',
        'tf.nn.sparse_softmax_cross_entropy_with_logits([1, 1], [[1., 2.]])',
        'tf.strings.upper(3)',
        'tf.strings.length(tf.constant(1))',
        "tf.strings.length('a', unit='Z')",
        "tf.strings.join([tf.constant(['a']), tf.constant(['b', 'c'])])",
        "tf.strings.to_number('1', tf.string)",
        "tf.as_string('a')",
        'tf.as_string(tf.constant([1]), precision=3)',
        'tf.case([])',
        'tf.tuple([])',
        'tf.DeviceSpec.from_string(None)',
        'tf.GradientTape().reset()',
        'tf.clip_by_global_norm([], 1.)',
        'tf.clip_by_global_norm([None], 1.)',
        'tf.constant([1, 2]) == [1, 2, 3]',
        'tf.constant([1, 2]) != [1, 2, 3]',
        'tf.data.Dataset.range(3).map(lambda x: x, num_parallel_calls=0)',
        'tf.data.Dataset.range(3).window(0)',
        "tf.distribute.Server({'a': ['localhost:0']}, job_name='b')",
        "tf.compat.v1.variable_scope('a', reuse=5).__enter__()",
):
    attempt(text)
