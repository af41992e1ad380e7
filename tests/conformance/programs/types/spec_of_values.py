import tensorflow as tf, numpy as np
VALUES = [tf.ones([2]), 1, 2.5, 'a', True, [1, 2], np.zeros([2, 2]), tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[0, 1]]), None, object, {}]
for v in VALUES:
    try: print(repr(tf.type_spec_from_value(v)))
    except Exception as e: print(type(e).__name__, str(e).splitlines()[0])
