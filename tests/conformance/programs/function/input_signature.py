import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
def f(x):
    print('trace', x)
    return x + 1
show('vector', f, tf.constant([1, 2])); show('list', f, [1, 2, 3]); show('numpy', f, np.array([5], np.int32)); show('numpy64', f, np.array([5]))
show('scalar', f, tf.constant(1)); show('dtype', f, tf.constant([1.])); show('text', f, ['a']); show('missing', f); show('extra', f, [1], [2]); show('keyword', f, x=[1]); show('wrong keyword', f, y=[1])
print(count(f))
print(f.input_signature)
