import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(d):
    return {'sum': d['a'] + d['b'][0], 'pair': (d['a'], [d['b'][1]]), 'none': None}
s = tf.TensorSpec([], tf.int32)
c = f.get_concrete_function({'a': s, 'b': [s, s]})
print(c.structured_input_signature); print(c.structured_outputs); print([t.name for t in c.inputs], len(c.outputs))
show('call', c, {'a': tf.constant(1), 'b': [tf.constant(2), tf.constant(3)]})
show('wrong structure', c, {'a': tf.constant(1)})
print(c)
