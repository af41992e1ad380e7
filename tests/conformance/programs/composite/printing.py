import tensorflow as tf, numpy as np
import sys
a, st = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[0, 1], [2, 0]])
for args in ((a,), (st,), ('x', a, {'s': st}, [a]), (tf.ragged.constant([[1.5], []]), tf.ragged.constant([['a'], ['b']])),
             (tf.ragged.constant([[[1], [2]], []]),), (tf.ragged.range([8] * 8),)):
    tf.print(*args, output_stream=sys.stdout)
print(a, st, f'{a}', f'{tf.constant([1, 2])}', f'{tf.constant(1.5)}', f'{tf.constant(1.5):.3f}', '{}'.format(tf.constant('s')))
