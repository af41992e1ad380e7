import tensorflow as tf, numpy as np
S = [None, [], [None], [2], [3], [None, None], [2, None], [None, 3], [2, 3], [3, 2], [2, 3, 4], [None, 3, None]]
def attempt(f):
    try: return f()
    except Exception as e: return f'{type(e).__name__}: {e}'
for a in S:
    for b in S:
        x, y = tf.TensorShape(a), tf.TensorShape(b)
        print(x, y, x.is_compatible_with(y), attempt(lambda: x.merge_with(y)), x.most_specific_compatible_shape(y), x.concatenate(y),
              x == y, x.is_subtype_of(y), x.most_specific_common_supertype([y]))
