import tensorflow as tf, numpy as np
S = tf.TensorSpec
groups = [[S([1]), S([2])], [S([1, 2]), S([1, 3]), S([1, 2])], [S([1]), S([1], tf.int32)], [S([1]), S([1, 1])], [S(None), S([2])], [S([1], name='a'), S([2], name='a')],
          [S([1], name='a'), S([2], name='b')], [S([1], name='a'), S([1])],
          [tf.RaggedTensorSpec([2, None]), tf.RaggedTensorSpec([3, None])], [tf.RaggedTensorSpec([2, None]), tf.RaggedTensorSpec([2, None, None])],
          [tf.RaggedTensorSpec([2, None]), tf.RaggedTensorSpec([2, None], tf.int32)], [tf.SparseTensorSpec([2, 3]), tf.SparseTensorSpec([2, 4])],
          [tf.SparseTensorSpec([2, 3]), tf.SparseTensorSpec([2, 3], tf.int32)], [tf.SparseTensorSpec([2, 3]), tf.RaggedTensorSpec([2, None])],
          [tf.IndexedSlicesSpec([2, 3]), tf.IndexedSlicesSpec([4, 3])], [S([2]), tf.SparseTensorSpec([2])]]
for first, *others in groups:
    print(first, others, '->', first.most_specific_common_supertype(others), first.is_subtype_of(others[0]), others[0].is_subtype_of(first), first.is_compatible_with(others[0]))
    try: print(first.most_specific_compatible_type(others[0]))
    except Exception as e: print(type(e).__name__, e)
