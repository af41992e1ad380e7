import tensorflow as tf, numpy as np
import operator
D = tf.compat.v1.Dimension
OPS = ['add', 'sub', 'mul', 'floordiv', 'mod', 'truediv', 'lt', 'le', 'gt', 'ge', 'eq', 'ne']
OTHERS = [D(3), D(None), 4, None, 2.5, 'a', np.int64(2)]
for a in (D(12), D(None), D(0)):
    for b in OTHERS:
        for name in OPS:
            f = getattr(operator, name)
            row = []
            for x, y in ((a, b), (b, a)):
                try: row.append(repr(f(x, y)))
                except Exception as e: row.append(f'{type(e).__name__}: {e}')
            print(repr(a), name, repr(b), *row)
