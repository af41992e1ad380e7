import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
s = tf.TensorSpec([], tf.int32)
@tf.function(input_signature=[{'a': s, 'b': [s, s]}])
def f(d):
    return d['a'] + d['b'][1]
show('dict', f, {'a': 1, 'b': [2, 3]}); show('tuple for list', f, {'a': 1, 'b': (2, 3)}); show('missing', f, {'a': 1}); show('longer', f, {'a': 1, 'b': [2, 3, 4]})
@tf.function(input_signature=(s, (s, s)))
def g(a, bc):
    return a + bc[0] * bc[1]
show('tuple', g, 1, (2, 3)); show('list', g, 1, [2, 3])
print(g.get_concrete_function().structured_input_signature)
