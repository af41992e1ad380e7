import tensorflow as tf, numpy as np
S = [None, [], [None], [2], [None, 3], [2, 3], [2, 3, 4]]
def attempt(f):
    try: return f()
    except Exception as e: return f'{type(e).__name__}: {e}'
for a in S:
    x = tf.TensorShape(a)
    for name in ('assert_is_fully_defined', 'is_fully_defined', 'as_list', 'num_elements', '__len__', '__bool__', 'as_proto', '__hash__'):
        result = attempt(getattr(x, name))
        print(x, name, type(result).__name__ if name == '__hash__' else str(result).replace('\n', ' '))
    for n in (0, 1, 2, 3):
        for name in ('with_rank', 'with_rank_at_least', 'with_rank_at_most', 'assert_has_rank'):
            print(x, name, n, attempt(lambda: getattr(x, name)(n)))
    for b in S:
        for name in ('assert_same_rank', 'assert_is_compatible_with'):
            print(x, name, b, attempt(lambda: getattr(x, name)(b)))
