import tensorflow as tf, numpy as np
def attempt(f):
    try: return repr(f())
    except Exception as e: return f'{type(e).__name__}: {str(e).splitlines()[0]}'
S = tf.TensorSpec
specs = [S([2, None]), S(None, tf.int32), S([], 'string', 'n'), S([2, 3], name='x'), S((2, 3), np.float64), S([2, 4])]
for s in specs:
    print(repr(s), str(s), s.shape, s.dtype, s.name, s.value_type.__name__, isinstance(s, tf.TypeSpec))
    for t in specs:
        print('  ', s == t, s.is_compatible_with(t), s.is_subtype_of(t), attempt(lambda: s.most_specific_common_supertype([t])), attempt(lambda: s.most_specific_compatible_type(t)))
for v in (tf.ones([2, 3]), tf.constant(1), np.ones([2, 3], np.float32), 1., [1.], 'a'):
    print([s.is_compatible_with(v) for s in specs], attempt(lambda: S.from_tensor(v)), attempt(lambda: tf.type_spec_from_value(v)))
print(attempt(lambda: S([1], 'bad')), attempt(lambda: S('bad')), attempt(lambda: S()), attempt(lambda: S([-1])))
print(hash(S([2])) == hash(S([2])), len({S([2]), S([2]), S([3])}))
import pickle, copy
print(pickle.loads(pickle.dumps(specs[3])), copy.deepcopy(specs[2]))
print(S.from_spec(specs[0]), S.from_spec(specs[0], 'new'), S.from_tensor(tf.ones([2]), name='q'))
