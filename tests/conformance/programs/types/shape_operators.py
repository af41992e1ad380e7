import tensorflow as tf, numpy as np
def attempt(f):
    try: return repr(f())
    except Exception as e: return f'{type(e).__name__}: {e}'
s = tf.TensorShape([2, None])
for other in ([3], (None,), tf.TensorShape([1]), None, 5, 'ab', 1.5, tf.TensorShape(None)):
    print(repr(other), attempt(lambda: s + other), attempt(lambda: other + s), attempt(lambda: s == other), attempt(lambda: s != other), attempt(lambda: s.concatenate(other)))
print(s == [2, None], s == (2, None), tf.TensorShape([2]) == [2], tf.TensorShape([2]) == 2, tf.TensorShape(None) == None)
print(list(s), tuple(s), 2 in s, None in s, s.rank, bool(tf.TensorShape([])), bool(tf.TensorShape(None)))
print(hash(tf.TensorShape([2, 3])) == hash(tf.TensorShape([2, 3])), len({tf.TensorShape([2]), tf.TensorShape((2,))}))
for f in (lambda: list(tf.TensorShape(None)), lambda: len(tf.TensorShape(None)), lambda: tf.TensorShape(None)[0], lambda: s < s, lambda: s.foo):
    print(attempt(f))
import pickle, copy
print(pickle.loads(pickle.dumps(s)), copy.deepcopy(s), repr(tf.TensorShape(s)))
