import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x, y):
    return x
s = tf.TensorSpec([2], tf.int32)
show('call with spec', f, s, 1)
print(f.get_concrete_function(s, 1).structured_input_signature)
print(f.get_concrete_function(tf.constant([1, 2]), 1).structured_input_signature)
show('none', lambda: f.get_concrete_function())
show('too many', lambda: f.get_concrete_function(s, s, s))
show('keyword', lambda: f.get_concrete_function(y=s, x=s).structured_input_signature)
a = f.get_concrete_function(s, s); b = f.get_concrete_function(s, s); print(a is b); print(count(f))
print(f.get_concrete_function(tf.TensorSpec(None, tf.float32), tf.TensorSpec([None, 3], tf.float32)).structured_input_signature)
show('wider', lambda: f.get_concrete_function(tf.TensorSpec(None, tf.float32), tf.TensorSpec([None, 3], tf.float32))(tf.ones([1]), tf.ones([2, 3])))
print(count(f)); f(tf.ones([2]), tf.ones([5, 3])); print(count(f))
